import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { PRINTS } from '../../src/http/entry/count-limit.ts';
import { addressGroup } from '../../src/http/entry/rate-limit.ts';
import { receiptUrl } from '../../src/http/receipts/receipt-url.ts';
import { insertRefund } from '../../src/store/money/refunds.ts';
import { LOCALES } from '../../web/src/checkout/locale.ts';
import { wordsIn } from '../../web/src/receipts/receipt-words.ts';
import { use } from '../count-use.ts';
import { freshKey } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { missingPoppler, textOf } from '../poppler.ts';
import { receiptIn, standInPage } from './checkout-page.ts';
import { paidPayment } from './paid-payment.ts';
import { openPayingShop, type PayingShop } from './paying-shop.ts';

const SCRIPT = join(import.meta.dirname, '../../docs/verify-receipt.mjs');
const dollars = (value: string) => ({ unit: 'iso4217/USD', value });
const ORDER = {
  description: 'For here & now',
  lineItems: [
    { name: 'Coffee <b>', quantity: 2, amount: dollars('700') },
    { name: 'مناقيش بالزعتر', amount: dollars('100') },
    { name: '抹茶ラテ、アイス', amount: dollars('150') },
    { name: 'Tip', amount: dollars('50') },
  ],
};

describe('receipts for payers', () => {
  let paying: PayingShop;
  let id: string;
  before(async () => {
    const page = standInPage();
    const { renderer } = page;
    const all = {
      ...renderer,
      LOCALES,
      STRINGS: Object.fromEntries(Object.keys(LOCALES).map((each) => [each, renderer.STRINGS.en])),
    };
    const pickLocale = (accept: string | undefined, lang: string | undefined) => lang ?? accept ?? 'en';
    paying = await openPayingShop({ page: { ...page, renderer: { ...all, pickLocale } as typeof renderer } });
    id = await paidPayment(paying, ORDER);
  });
  after(() => paying?.gateway.stop());

  const pathOf = (of: string) => new URL(receiptUrl(paying.gateway, of)).pathname;
  const get = (ending = '', { of = id, headers = {}, remoteAddress = '203.0.113.1' } = {}) =>
    paying.gateway.app.inject({ url: `${pathOf(of)}${ending}`, headers, remoteAddress });
  const pdf = async (query: string, of = id) => {
    const response = await get(`.pdf?${query}`, { of });
    assert.equal(response.statusCode, 200, response.body.slice(0, 200));
    return response.rawPayload;
  };

  it('show the shop, the order, the payment and how to check it, and no fee', async () => {
    const response = await get();
    assert.equal(response.statusCode, 200, response.body);
    assert.match(String(response.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
    const receipt = receiptIn(response.body);
    assert.deepEqual(
      [
        receipt.merchant.name,
        receipt.number,
        receipt.price.value,
        receipt.paid.value,
        receipt.paid.display.assetSymbol,
      ],
      ['Test shop', id.slice(4), '1000', '10000000', 'USDC'],
    );
    assert.deepEqual(
      receipt.lineItems.map(({ name, quantity, amount }) => [name, quantity, amount?.value]),
      [
        ['Coffee <b>', 2, '700'],
        ['مناقيش بالزعتر', null, '100'],
        ['抹茶ラテ、アイス', null, '150'],
        ['Tip', null, '50'],
      ],
    );
    assert.match(receipt.transactions[0]?.txId ?? '', /^0x[0-9a-f]{64}$/);
    assert.ok(receipt.proof?.receiptUrl.endsWith(`${pathOf(id)}.json`));
    assert.doesNotMatch(response.body, /"fee/);
  });

  it('are signed for the payer as for the merchant, and come with the script that checks them', async () => {
    const [forPayer, forMerchant, script] = await Promise.all([
      get('.json'),
      paying.gateway.call({ url: `/v1/payments/${id}/receipt`, headers: paying.shop.headers }),
      paying.gateway.app.inject({ url: '/verify-receipt.mjs' }),
    ]);
    assert.deepEqual(forPayer.json(), forMerchant.json());
    assert.equal(script.body, await readFile(SCRIPT, 'utf8'));
    assert.match(String(script.headers['content-type']), /^text\/javascript/);
  });

  it('are shown without a proof while their transaction is not in the chain', async () => {
    const other = await paidPayment(paying);
    await command(
      paying.gateway,
      (tx) => tx`delete from chain_events where transaction_hash in (
      select transaction_hash from payments where id = ${other})`,
    );
    await command(
      paying.gateway,
      (tx) => tx`delete from chain_events where commitment in (
      select commitment from items where subject = ${other})`,
    );
    const receipt = receiptIn((await get('', { of: other })).body);
    assert.deepEqual([receipt.proof, receipt.number], [null, other.slice(4)]);
    assert.equal((await get('.json', { of: other })).json().code, 'invalid_state');
    assert.equal((await get('.pdf', { of: other })).statusCode, 200);
  });

  it('are there for succeeded payments alone: others lead to the checkout', async () => {
    const open = await paying.created();
    for (const ending of ['', '.pdf']) {
      const response = await get(ending, { of: open });
      assert.equal(response.statusCode, 303);
      assert.ok(String(response.headers.location).endsWith(`/c/${open.slice(4)}`));
    }
    assert.equal((await get('.json', { of: open })).json().code, 'invalid_state');
    for (const wrong of ['01H0000000000000000000000A', 'x', '%00', '9'.repeat(26)]) {
      for (const ending of ['', '.pdf', '.json']) {
        const url = pathOf(id).replace(id.slice(4), wrong) + ending;
        assert.equal((await paying.gateway.app.inject({ url })).statusCode, 404, url);
      }
    }
  });

  it('show the reference of an order, and not the id of a payment link, on the page and on every paper', async () => {
    const { gateway, shop } = paying;
    const payload = { description: 'Flat white', amount: dollars('1000') };
    const headers = { ...shop.headers, 'idempotency-key': freshKey() };
    const made = await gateway.call({ method: 'POST', url: '/v1/payment-links', headers, payload });
    const { id: referenceId } = made.json().paymentLink;
    assert.match(referenceId, /^plk_/);
    const ofLink = await paidPayment(paying, { referenceId });
    assert.equal(receiptIn((await get()).body).referenceId, 'ORDER-42');
    const page = (await get('', { of: ofLink })).body;
    assert.equal(receiptIn(page).referenceId, '');
    assert.doesNotMatch(page, /plk_/);
    if (missingPoppler()) return;
    const { reference } = wordsIn('en');
    for (const size of ['a4', 'letter', 'roll']) {
      assert.ok(textOf(await pdf(`size=${size}&lang=en`)).includes(reference), size);
      const text = textOf(await pdf(`size=${size}&lang=en`, ofLink));
      assert.ok(text.includes('Test shop') && !text.includes('plk_') && !text.includes(reference), text);
    }
  });

  it('name refunds in parts with their times, and the rest', async () => {
    const refunded = await paidPayment(paying, ORDER);
    const at = new Date('2026-03-04T05:06:00Z');
    const hash = `0x${'ef'.repeat(32)}`;
    const [item] = await paying.items(refunded);
    assert.ok(item);
    await command(paying.gateway, async (tx) => {
      const { network, asset, payer: recipient, recipient: account } = item;
      const method = 'eip3009-vrs' as const;
      const money = {
        amount: '3000000',
        price: '300',
        fee: '0',
        fromHeld: '3000000',
        fromMerchant: '0',
        fromOperator: '0',
      };
      const about = { paymentId: refunded, number: 1, merchantId: paying.shop.merchant.id, reason: null, mac: null };
      const fields = {
        network,
        asset,
        method,
        recipient,
        account,
        sendAfter: null,
        isOperators: false,
        waitsFor: null,
      };
      await insertRefund(tx, { id: refunded.replace('pay_0', 'rfnd_1'), ...about, ...fields, ...money }, at);
      await tx`update refunds set state = 'refunded', transaction_hash = ${hash} where payment_id = ${refunded}`;
    });
    const receipt = receiptIn((await get('', { of: refunded })).body);
    assert.deepEqual(
      receipt.refunds.map((refund) => [refund.price.value, refund.at, refund.txId]),
      [['300', at.toISOString(), hash]],
    );
    if (missingPoppler()) return;
    const text = textOf(await pdf('size=letter&lang=en', refunded));
    for (const part of ['March 4, 2026 at 5:06 AM UTC', '$3.00', hash, 'Paid after refunds', '$7.00']) {
      assert.ok(text.includes(part), `${part} is not in ${text}`);
    }
  });

  it('are printed on each paper in its size', async () => {
    const boxes = { a4: [595.28, 841.89], letter: [612, 792], roll: [226.77, undefined] } as const;
    for (const [size, [width, height]] of Object.entries(boxes)) {
      const file = (await pdf(`size=${size}`)).toString('latin1');
      assert.match(file, /^%PDF-1\.\d/);
      const [, wide, high] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(file) ?? [];
      assert.ok(Math.abs(Number(wide) - width) < 0.01, `${size} is ${wide} wide`);
      if (height !== undefined) assert.ok(Math.abs(Number(high) - height) < 0.01);
    }
  });

  it('have commands to check them on paper, and none on a roll of 80 mm', { skip: missingPoppler() }, async () => {
    assert.match(textOf(await pdf('size=a4')), /verify-receipt\.mjs/);
    assert.doesNotMatch(textOf(await pdf('size=roll')), /verify-receipt\.mjs|curl/);
  });

  it('can be read in every language, as text', { skip: missingPoppler() }, async () => {
    for (const lang of Object.keys(LOCALES)) {
      const text = textOf(await pdf(`size=a4&lang=${lang}`)).replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
      const { title, total, number } = wordsIn(lang);
      const words = lang === 'ar' ? ['إيصال', 'التاريخ', 'الشبكة'] : [title, total, number];
      const parts = [
        ...words,
        'Test shop',
        id.slice(4),
        'ORDER-42',
        'Coffee <b>',
        '抹茶ラテ、アイス',
        'بالزعتر',
        'USDC',
      ];
      for (const part of parts) assert.ok(text.includes(part), `${lang}: ${part} is not in ${text}`);
    }
  });

  it('print hostile names and a hundred items without harm', ONLY_LONG, async () => {
    const names = [
      '👩‍👩‍👧‍👦',
      '\u202eevil',
      `a${'\u0301'.repeat(199)}`,
      '𒐫'.repeat(100),
      'x'.repeat(200),
      '%PDF (a) Tj endstream',
    ];
    const lineItems = Array.from({ length: 100 }, (_, index) => ({
      name: names[index % names.length],
      quantity: 1_000_000,
      amount: dollars('9'.repeat(70)),
    }));
    const other = await paidPayment(paying, { lineItems, description: '\u2067'.repeat(400) });
    for (const size of ['a4', 'letter', 'roll']) {
      const file = await pdf(`size=${size}&lang=ar`, other);
      if (!missingPoppler()) assert.ok(textOf(file).includes('USDC'));
    }
  });

  it('are printed again only if they have changed, and so many times for an address', async () => {
    const first = await get('.pdf?size=roll&lang=en');
    const headers = { 'if-none-match': String(first.headers.etag) };
    assert.equal((await get('.pdf?size=roll&lang=en', { headers })).statusCode, 304);
    assert.equal((await get('.pdf?size=a4&lang=en', { headers })).statusCode, 200);
    assert.match(String(first.headers['content-disposition']), /^inline; filename="receipt-\w{26}-roll\.pdf"$/);
    assert.equal((await get('.pdf?size=a5')).json().code, 'params_validation');
    const remoteAddress = '203.0.113.77';
    for (let count = 1; count < PRINTS.max; count += 1) await use(paying.gateway.prints, addressGroup(remoteAddress));
    const [known, other] = [await get('.pdf?size=a4&lang=en', { remoteAddress }), await paidPayment(paying, ORDER)];
    assert.deepEqual([known.statusCode, known.rawPayload.length > 0], [200, true], 'a finished file costs nothing');
    const last = await get('.pdf', { of: await paidPayment(paying, ORDER), remoteAddress });
    assert.equal(last.statusCode, 200, 'the print before the limit');
    const refused = await get('.pdf', { of: other, remoteAddress });
    assert.deepEqual([refused.statusCode, Number(refused.headers['retry-after']) > 0], [429, true]);
    assert.equal((await get('', { remoteAddress })).statusCode, 200, 'the page is still there');
  });
});
