import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { COLLECTORS } from '../../src/chains/evm/collectors.ts';
import { receiptUrl } from '../../src/http/receipts/receipt-url.ts';
import { paymentIn, standInPage } from '../e2e/checkout-page.ts';
import { paidPayment } from '../e2e/paid-payment.ts';
import { openPayingShop, type PayingShop } from '../e2e/paying-shop.ts';
import { startMailServer } from '../mail-server.ts';

const ORDER = { description: 'A secret present', lineItems: [{ name: 'A ring' }] };
const FORMS = ['', '.pdf', '.json'];
const DAY_MS = 86_400_000;

describe('a stranger who knows the id of a payment', () => {
  let paying: PayingShop;
  before(async () => {
    const server = await startMailServer();
    await server.stop();
    const config = {
      smtp: { ...server.terms, url: 'smtp://127.0.0.1' },
      mailFrom: { name: 'Till', address: 'till@gateway.example' },
    };
    paying = await openPayingShop({ page: standInPage(), config });
  });
  after(() => paying?.gateway.stop());

  const open = (url: string) => paying.gateway.app.inject({ url });
  const pathOf = (id: string) => new URL(receiptUrl(paying.gateway, id)).pathname;
  const checkout = async (id: string) => paymentIn((await open(`/c/${id.slice(4)}`)).body);

  const mail = (id: string) => paying.wallet.post(id, 'receipt-email', { email: 'stranger@example.com' });

  it('opens no receipt: that needs the secret of its address', async () => {
    const [id, other] = [await paidPayment(paying, ORDER), await paidPayment(paying, ORDER)];
    for (const form of FORMS) {
      const older = await open(`/c/${id.slice(4)}/receipt${form}`);
      assert.deepEqual([older.statusCode, older.body], form === '.json' ? [404, older.body] : [303, ''], form);
      assert.equal((await open(pathOf(id) + form)).statusCode, 200, form);
      const path = pathOf(id).split('/');
      const secret = path[3] ?? '';
      const guesses = [pathOf(other).split('/')[3] ?? '', 'A'.repeat(22), `${secret}x`, secret.slice(1), '%00'];
      for (const guess of guesses) {
        const url = pathOf(id).replace(secret, guess) + form;
        const answer = await open(url);
        assert.equal(answer.statusCode, 404, url);
        assert.doesNotMatch(answer.body, /secret present|A ring/);
      }
    }
  });

  it('finds no way to the receipt on the checkout of a day later', async () => {
    const id = await paidPayment(paying, ORDER);
    assert.equal((await mail(id)).statusCode, 202);
    assert.equal((await checkout(id)).receiptUrl, receiptUrl(paying.gateway, id));
    await paying.time.advance(DAY_MS);
    const later = await checkout(id);
    assert.deepEqual([later.receiptUrl, later.mailsReceipts], [null, undefined]);
    assert.equal((await mail(id)).json().code, 'invalid_state');
  });

  it('sees neither order nor receipt of a payment whose id the chain shows', async () => {
    const id = await paidPayment(paying, ORDER);
    const first = COLLECTORS[0]?.address ?? '';
    const sealed = await checkout(id);
    assert.deepEqual([sealed.description, sealed.lineItems?.length], [ORDER.description, 1]);
    await command(paying.gateway, (tx) => tx`update items set seal = null, collector = ${first} where subject = ${id}`);
    const plain = await open(`/c/${id.slice(4)}`);
    assert.doesNotMatch(plain.body, /secret present|A ring|ORDER-42/);
    const state = paymentIn(plain.body);
    assert.deepEqual([state.description, state.lineItems, state.referenceId, state.receiptUrl], [null, null, '', null]);
    assert.equal((await mail(id)).json().code, 'invalid_state');
    const receipt = await open(pathOf(id));
    assert.match(receipt.body, /A secret present/, 'the address with the secret still shows all of it');
  });
});
