import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem';
import { idBytes } from '../../src/domain/ids.ts';
import { connectTo, type TestConnection } from '../database.ts';
import type { Json } from '../e2e/list-test.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';

const WITHIN = { withinMs: 20_000 };
const TOKEN = parseAbi(['function transfer(address to, uint256 value)']);

describe('a stranger who reads the chain', () => {
  let sandbox: Sandbox;
  let sql: TestConnection;
  let merchantId: string;
  before(async () => {
    sandbox = await startSandbox();
    sql = connectTo(sandbox.databaseUrl);
    const { account } = await sandbox.createWallet({});
    // Payments in other assets are held.
    ({ id: merchantId } = await sandbox.createMerchant(sandbox.assetOf('USDC'), account));
  });
  after(async () => {
    await sql?.end();
    await sandbox?.stop();
  });

  const call = (method: 'GET' | 'POST', path: string, body?: object) =>
    sandbox.call<Json>(method, path, body, merchantId);
  const created = async () => (await sandbox.createPayment('iso4217/USD', '1000', {}, merchantId)).paymentId;
  const payment = (id: string) => call('GET', `/v1/payments/${id}`);

  async function paid(symbol: string): Promise<string> {
    const id = await created();
    await payWith(sandbox, await sandbox.createWallet({ [symbol]: 10n ** 9n }), id, symbol);
    return id;
  }

  /** Pays to a deposit address, and waits for the sweep. */
  async function swept(): Promise<string> {
    const id = await created();
    const asset = sandbox.assetOf('USDC');
    const { plainAddress } = await call('POST', `/v1/gateway/payment/${id}/address`, { asset });
    const wallet = await sandbox.createWallet({ USDC: 10n ** 9n, ETH: parseEther('1') });
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [plainAddress, 10_000_000n] });
    await wallet.send({ to: asset.split('erc20:')[1] as Hex, data });
    await until('it is swept', async () => (await payment(id)).settlement !== null, WITHIN);
    return id;
  }

  /** Everything that the chain shows: all blocks with their transactions, and all logs, in lower case. */
  async function publicData(): Promise<string> {
    const ask = async (calls: readonly { method: string; params: unknown[] }[]) => {
      const body = JSON.stringify(calls.map((each, id) => ({ jsonrpc: '2.0', id, ...each })));
      const headers = { 'content-type': 'application/json' };
      return (await fetch(sandbox.rpcUrl, { method: 'POST', headers, body })).text();
    };
    const [{ result: head }] = JSON.parse(await ask([{ method: 'eth_blockNumber', params: [] }]));
    const parts = [await ask([{ method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: head }] }])];
    for (let height = 1; height <= Number(head); height += 1) {
      parts.push(await ask([{ method: 'eth_getBlockByNumber', params: [`0x${height.toString(16)}`, true] }]));
    }
    return parts.join('\n').toLowerCase();
  }

  it('finds no id in any transaction or log of a payment, a sweep, a refund and a payout', async () => {
    const ids = [await paid('USDC'), await swept()];
    const [refunded, paidOut] = [await paid('EURC'), await paid('EURC')];
    await call('POST', '/v1/refunds', { paymentId: refunded });
    await until('it is refunded', async () => (await payment(refunded)).refund?.status === 'refunded', WITHIN);
    const { account } = await sandbox.createWallet({});
    const settlements = [{ asset: sandbox.assetOf('EURC'), destination: account }];
    await call('POST', `/v1/merchants/${merchantId}/settlements/crypto`, { settlements });
    await until('it is paid out', async () => (await payment(paidOut)).settlement !== null, WITHIN);
    ids.push(refunded, paidOut);

    const shown = await publicData();
    for (const id of ids) {
      const { receipt } = await call('GET', `/v1/payments/${id}/receipt`);
      assert.ok(shown.includes(receipt.subject.slice(2)), 'the seal of the payment is among what was read');
    }
    const rows = await sql<{ id: string }[]>`select distinct subject as id from items`;
    const kinds = new Set(rows.map(({ id }) => id.split('_')[0]));
    assert.deepEqual([...kinds].sort(), ['pay', 'pout', 'rfnd']);
    for (const id of [...ids, ...rows.map((row) => row.id)]) {
      // The first byte has the mark of refunds and payouts; the other bytes of a refund are those of its payment.
      const bytes = Buffer.from(idBytes(id)).toString('hex').slice(2);
      const text = id.slice(id.indexOf('_') + 1);
      for (const form of [bytes, text.toLowerCase(), Buffer.from(text).toString('hex')]) {
        assert.ok(!shown.includes(form), `${id} as ${form}`);
      }
    }
  });
});
