import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem';
import { COLLECTORS, DEPOSIT_CONTRACTS } from '../../src/chains/evm/collectors.ts';
import { receiptKeyOf, signReceipt } from '../../src/domain/receipt.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import type { Json } from './list-test.ts';
import { payWith, setFees } from './sandbox-payer.ts';

const SCRIPT = join(import.meta.dirname, '../../docs/verify-receipt.mjs');
const SYMBOLS = ['USDC', 'EURC', 'USDT', 'ETH'] as const;
const TEN = 10;
const WITHIN_MS = 20_000;
const TOKEN = parseAbi(['function transfer(address to, uint256 value)']);

describe('receipts', () => {
  let sandbox: Sandbox;
  let folder: string;
  let key: string;
  let merchantId: string;
  let files = 0;
  before(async () => {
    sandbox = await startSandbox();
    folder = await mkdtemp(join(tmpdir(), 'till-receipts-'));
    const { account } = await sandbox.createWallet({});
    // Payments in other assets are held.
    ({ id: merchantId } = await sandbox.createMerchant(sandbox.assetOf('USDC'), account));
    await setFees(sandbox, merchantId, '--percentage', '1.25', '--fixed', 'iso4217/USD=9');
    key = await put(await (await fetch(`${sandbox.baseUrl}/.well-known/till-receipts.json`)).json());
  });
  after(async () => {
    await sandbox?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function put(body: unknown): Promise<string> {
    files += 1;
    const file = join(folder, `${files}.json`);
    await writeFile(file, JSON.stringify(body));
    return file;
  }

  /** Runs the script as a merchant would. */
  async function check(signed: unknown, { keys = key, rpc = ['--rpc', sandbox.rpcUrl] } = {}) {
    const argv = [SCRIPT, await put(signed), '--key', keys, ...rpc];
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile(process.execPath, argv, { timeout: 20_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
      );
    });
  }

  const receiptOf = (id: string) => sandbox.call<Json>('GET', `/v1/payments/${id}/receipt`, undefined, merchantId);

  /** A payment of some dollars and cents, paid. */
  async function paid(symbol: string): Promise<string> {
    const value = String(100 + Math.floor(Math.random() * 5_000));
    const wallet = await sandbox.createWallet({
      ...(symbol !== 'ETH' && { [symbol]: 10n ** 9n }),
      ETH: parseEther('1'),
    });
    const { paymentId } = await sandbox.createPayment('iso4217/USD', value, {}, merchantId);
    await payWith(sandbox, wallet, paymentId, symbol);
    return paymentId;
  }

  it('of ten payments are verified by the script, and an altered one is refused', async () => {
    const ids = await Promise.all(
      Array.from({ length: TEN }, (_, index) => paid(SYMBOLS[index % SYMBOLS.length] ?? '')),
    );
    const receipts = await Promise.all(ids.map(receiptOf));
    for (const [index, signed] of receipts.entries()) {
      const { code, output } = await check(signed);
      assert.equal(code, 0, output);
      assert.match(output, /^signed .*\ncommitted .*\non chain .* reached 0x[0-9a-fA-F]{40}, \d+ blocks deep\n$/);
      assert.equal(signed.receipt.paymentId, ids[index]);
    }
    assert.deepEqual(await receiptOf(ids[0] ?? ''), receipts[0], 'it is the same whenever it is asked for');

    const [{ receipt, signature }] = receipts as [Json];
    const altered = await check({ receipt: { ...receipt, amount: `${receipt.amount}0` }, signature });
    assert.deepEqual(altered, { code: 1, output: altered.output });
    assert.match(altered.output, /^refused: the signature is not of this receipt/);
  });

  it('that the operator forged are refused by the chain’s data', async () => {
    const { receipt } = await receiptOf(await paid('USDC'));
    const other = await receiptOf(await paid('USDC'));
    const forger = receiptKeyOf(new Uint8Array(32).fill(7));
    const keys = await put({ keys: [forger.publicJwk] });
    const sign = (made: Json) => ({ receipt: made, signature: signReceipt(forger, made) });
    assert.equal((await check(sign(receipt), { keys })).code, 0);
    const lies: readonly (readonly [lie: object, problem: RegExp])[] = [
      [{ fee: '0' }, /commitment is not the hash/],
      [{ recipient: receipt.payer }, /commitment is not the hash/],
      [{ subject: other.receipt.subject }, /commitment is not the hash/],
      [{ subject: '0x12' }, /neither 16 nor 32 bytes/],
      [{ nonceSpace: '2' }, /commitment is not the hash/],
      [{ collector: receipt.payer }, /not the Collector/],
      [{ asset: sandbox.assetOf('EURC') }, /asset and its token differ/],
      [{ network: 'eip155:1' }, /network and its chain id differ/],
      [{ transaction: `0x${'1'.repeat(64)}` }, /does not know the transaction/],
      [{ transaction: other.receipt.transaction }, /in another block/],
      [{ blockHash: other.receipt.blockHash }, /in another block/],
      [{ blockNumber: '1' }, /at another height/],
      [{ logIndex: String(Number(receipt.logIndex) + 1) }, /no event of that number|not the Collector|another one/],
      [{ referenceId: undefined }, /members are missing/],
      [{ extra: 'more' }, /do not belong/],
    ];
    for (const [lie, problem] of lies) {
      const { code, output } = await check(sign({ ...receipt, ...lie }), { keys });
      assert.equal(code, 1, output);
      assert.match(output, problem);
    }
  });

  /** A payment of ten dollars, sent to its deposit address in these parts and swept. */
  async function paidToAddress(...parts: readonly bigint[]): Promise<Json> {
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000', {}, merchantId);
    const path = `/v1/gateway/payment/${paymentId}`;
    const { address } = await sandbox.call<Json>('POST', `${path}/address`, { asset: sandbox.assetOf('USDC') });
    const to = address.split(':').at(-1) as Hex;
    const wallet = await sandbox.createWallet({ USDC: 10n ** 9n, ETH: parseEther('1') });
    const token = sandbox.assetOf('USDC').split('erc20:')[1] as Hex;
    for (const part of parts) {
      await wallet.send({
        to: token,
        data: encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, part] }),
      });
    }
    const isSwept = async () => {
      const { status } = await sandbox.call<Json>('GET', `${path}/status`);
      return status === 'succeeded' && (await receiptOf(paymentId)).receipt.sweeps.length > 0;
    };
    await until(`${paymentId} is paid and swept`, isSwept, { withinMs: WITHIN_MS });
    return receiptOf(paymentId);
  }

  it('of payments to a deposit address prove its terms, the transfers and the sweeps', ONLY_LONG, async () => {
    const signed = await paidToAddress(4_000_000n, 6_000_000n);
    const { receipt } = signed;
    assert.deepEqual(
      [receipt.form, receipt.arrived, receipt.transfers.map(({ amount }: Json) => amount), receipt.refunds],
      ['till-receipt/5', '10000000', ['4000000', '6000000'], []],
    );
    assert.equal(receipt.transaction, receipt.transfers[1].transaction, 'the transfer that completed it');
    const { code, output } = await check(signed);
    assert.equal(code, 0, output);
    assert.match(
      output,
      /^signed .*\ncommitted .* deposit address .*\n(on chain .* arrived at 0x.*\n){2}(swept .* reached 0x.*\n)+$/,
    );

    const forger = receiptKeyOf(new Uint8Array(32).fill(7));
    const keys = await put({ keys: [forger.publicJwk] });
    const sign = (made: Json) => ({ receipt: made, signature: signReceipt(forger, made) });
    const [first, second] = receipt.transfers;
    const other = await receiptOf(await paid('USDC'));
    const lies: readonly (readonly [lie: object, problem: RegExp])[] = [
      [{ recipient: receipt.feeAccount }, /commitment is not the hash/],
      [{ fee: '0' }, /commitment is not the hash/],
      [{ payer: receipt.recipient }, /does not follow from its terms/],
      [{ collector: other.receipt.collector }, /not that of deposit addresses/],
      [{ subject: other.receipt.subject }, /commitment is not the hash/],
      [{ subject: '0x12' }, /neither 16 nor 32 bytes/],
      [{ nonceSpace: '2' }, /do not belong/],
      [{ arrived: '10000001' }, /not the money that it names/],
      [{ transfers: [first, first, second], arrived: '14000000' }, /named twice/],
      [{ transfers: [{ ...first, amount: '5000000' }, second], arrived: '11000000' }, /differs from the receipt/],
      [{ transfers: [{ ...first, amount: '-1' }, second], arrived: '5999999' }, /not a whole number/],
      [{ transfers: [{ ...first, sender: receipt.recipient }, second] }, /another one/],
      [{ transfers: [{ ...first, logIndex: '999' }, second] }, /no event of that number/],
      [{ deadline: '1' }, /after the deadline/],
      [{ transaction: other.receipt.transaction }, /none of its transfers/],
      [{ sweeps: receipt.sweeps.map((sweep: Json) => ({ ...sweep, fee: '0' })) }, /differs from the receipt/],
      [{ sweeps: receipt.sweeps.map((sweep: Json) => ({ ...sweep, blockHash: first.blockHash })) }, /in another block/],
      [{ sweeps: [{ ...receipt.sweeps[0], more: '1' }] }, /do not belong/],
      [{ refunds: undefined }, /members are missing/],
    ];
    assert.equal((await check(sign(receipt), { keys })).code, 0);
    for (const [lie, problem] of lies) {
      const answer = await check(sign({ ...receipt, ...lie }), { keys });
      assert.equal(answer.code, 1, `${JSON.stringify(lie)}: ${answer.output}`);
      assert.match(answer.output, problem);
    }
  });

  it('are refused when they are signed with a key that is not the operator’s, and unchecked without an endpoint', async () => {
    const signed = await receiptOf(await paid('EURC'));
    const keys = await put({ keys: [receiptKeyOf(new Uint8Array(32)).publicJwk] });
    assert.match(
      (await check(signed, { keys })).output,
      /^refused: it is signed with a key that is not among those given/,
    );
    const offline = await check(signed, { rpc: [] });
    assert.deepEqual([offline.code, offline.output.includes('on chain')], [0, false]);
    const dead = await check(signed, { rpc: ['--rpc', 'http://127.0.0.1:1'] });
    assert.equal(dead.code, 2, 'what could not be asked is neither right nor wrong');
  });

  it('are there for succeeded payments of the merchant alone', async () => {
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '100', {}, merchantId);
    const message = /^GET .*: \{"code":"(\w+)"/;
    const refusal = (id: string) =>
      receiptOf(id).then(
        () => assert.fail('there is a receipt'),
        (error: Error) => message.exec(error.message)?.[1],
      );
    assert.equal(await refusal(paymentId), 'invalid_state');
    assert.equal(await refusal('pay_01H0000000000000000000000A'), 'payment_not_found');
    assert.equal(await refusal('x'), 'payment_not_found');
  });

  it('are checked against the releases of the contracts that this gateway knows', async () => {
    const script = await readFile(SCRIPT, 'utf8');
    for (const [name, releases] of Object.entries({ COLLECTORS, DEPOSITS: DEPOSIT_CONTRACTS })) {
      const [, list = ''] = new RegExp(`^const ${name} = \\[(.*?)\\];$`, 'ms').exec(script) ?? [];
      assert.deepEqual(
        list.match(/0x\w{40}/g),
        releases.map(({ address }) => address),
      );
    }
  });
});
