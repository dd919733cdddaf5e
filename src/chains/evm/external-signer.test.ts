import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { payoutIdOf } from '../../domain/ids.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SignerRefusedError } from '../signable.ts';
import { createExternalSigner, SignerError } from './external-signer.ts';
import { createLocalSigner } from './local-signer.ts';
import { sampleItem } from './sample-item.fixture.ts';

const local = createLocalSigner(`0x${'1a'.repeat(32)}`);
const stranger = createLocalSigner(`0x${'2b'.repeat(32)}`);
const digest = Buffer.alloc(32, 7);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** A transaction without items. */
const NOTHING = { kind: 'transaction', network: 'eip155:31337', transaction: { nonce: '0x0' }, items: [] } as const;
const hex = (value: bigint | number) => `0x${value.toString(16)}`;

describe('an external signer', () => {
  let server: Server;
  let answer: (asked: { address: string; digest: string }) => Promise<{ status?: number; body: unknown }>;
  let url: string;
  before(async () => {
    server = createServer(async (request, response) => {
      const { status = 200, body } = await answer(JSON.parse(await text(request)));
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const signer = () => createExternalSigner({ timers: systemWorld.timers, url, address: local.address });

  it('gives the same signature as a local key, with v from 0 or from 27', async () => {
    for (const first of [0, 27]) {
      answer = async (asked) => {
        assert.deepEqual([asked.address, asked.digest], [local.address, `0x${digest.toString('hex')}`]);
        const { r, s, yParity } = await local.sign(digest);
        return { body: { r: hex(r), s: hex(s), v: hex(first + yParity) } };
      };
      assert.deepEqual(await signer().sign(digest, NOTHING), await local.sign(digest));
    }
  });

  it('gets the content of the digest, with purpose, payment, amount and recipient of every item', async () => {
    const payment = sampleItem('permit2', { payer: stranger.address });
    const payout = { ...payment, subject: payoutIdOf(payment.subject), payer: local.address, fee: 0n };
    let asked: Record<string, unknown> = {};
    answer = async (request) => {
      asked = { ...request };
      return { status: 500, body: '' };
    };
    await assert.rejects(signer().sign(digest, { ...NOTHING, items: [payment, payout] }));
    const { collector, asset, feeAccount, recipient, method } = payment;
    const shared = { collector, asset, method, recipient, feeAccount, amount: '12340000', deadline: 4_000_000_000 };
    const bytes = `0x${payment.seal}`;
    assert.deepEqual(asked, {
      version: 1,
      address: local.address,
      digest: `0x${digest.toString('hex')}`,
      chainId: 'eip155:31337',
      kind: 'transaction',
      transaction: { nonce: '0x0' },
      items: [
        {
          purpose: 'payment',
          subject: payment.subject,
          subjectBytes: bytes,
          paymentId: payment.subject,
          payer: stranger.address,
          fee: '40000',
          ...shared,
        },
        {
          purpose: 'payout',
          subject: payout.subject,
          subjectBytes: bytes,
          // The id of a payout follows from its money, and does not show the payment.
          paymentId: null,
          payer: local.address,
          fee: '0',
          ...shared,
        },
      ],
    });
  });

  it('may refuse with a reason, which is kept to one short line', async () => {
    const cases: readonly [unknown, string][] = [
      [{ reason: 'above the limit' }, 'above the limit'],
      [{ reason: `two\nlines\u0007 ${'x'.repeat(300)}` }, `two lines ${'x'.repeat(300)}`.slice(0, 200)],
      [{ reason: 7 }, 'it gives no reason'],
      ['<html>', 'it gives no reason'],
    ];
    for (const [body, reason] of cases) {
      answer = async () => ({ status: 403, body });
      await assert.rejects(
        signer().sign(digest, NOTHING),
        (error: Error) => error instanceof SignerRefusedError && error.reason === reason,
      );
    }
  });

  it('is not believed when it signs with another key, in another form, or not at all', async () => {
    const good = await local.sign(digest);
    const other = await stranger.sign(digest);
    const wrong: readonly [unknown, RegExp][] = [
      [{ r: hex(other.r), s: hex(other.s), v: hex(other.yParity) }, /signed with another key/],
      [{ r: hex(good.r), s: hex(ORDER - good.s), v: hex(1 - good.yParity) }, /no signature with a low s/],
      [{ r: hex(good.r), s: hex(good.s), v: '0x05' }, /no signature/],
      [{ r: 1, s: 2, v: 3 }, /no signature/],
      ['<html>', /no signature/],
      ['null', /no signature/],
      ['x'.repeat(10_000), /sent no signature/],
    ];
    for (const [body, expected] of wrong) {
      answer = async () => ({ body });
      await assert.rejects(
        signer().sign(digest, NOTHING),
        (error: Error) => error instanceof SignerError && expected.test(error.message),
      );
    }
  });

  it('reveals neither its URL nor its answer when it fails', async () => {
    answer = async () => ({ status: 500, body: 'stack of the signer' });
    await assert.rejects(signer().sign(digest, NOTHING), { message: 'The external signer answered with status 500.' });
    const away = createExternalSigner({
      timers: systemWorld.timers,
      url: 'http://127.0.0.1:1/key',
      address: local.address,
    });
    await assert.rejects(away.sign(digest, NOTHING), { message: 'The external signer cannot be reached.' });
  });

  it('is given up when it does not answer in time', async () => {
    answer = () => new Promise(() => {});
    const timers = {
      ...systemWorld.timers,
      after: (_ms: number, run: () => void) => systemWorld.timers.after(20, run),
    };
    const slow = createExternalSigner({ timers, url, address: local.address });
    await assert.rejects(slow.sign(digest, NOTHING), { message: 'The external signer did not answer in time.' });
  });
});
