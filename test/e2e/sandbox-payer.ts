import assert from 'node:assert/strict';
import { runCommand } from '../run-command.ts';
import { until } from '../until.ts';
import type { Sandbox } from '../wallet-sdk/sandbox.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import type { Json } from './list-test.ts';

const PAID_WITHIN_MS = 20_000;
const FEES_WITHIN_MS = 10_000;

/** Pays a payment link as a wallet does over HTTP, and waits until it has succeeded. */
export async function payWith(sandbox: Sandbox, wallet: TestWallet, paymentId: string, symbol: string): Promise<void> {
  const path = `/v1/gateway/payment/${paymentId}`;
  let option: Json;
  // A lifted freeze is in force everywhere within 5 s.
  await until(`${symbol} is offered`, async () => {
    const { options } = await sandbox.call<Json>('POST', `${path}/options`, { accounts: [wallet.account] });
    option = options.find(({ amount }: Json) => amount.unit === `caip19/${sandbox.assetOf(symbol)}`);
    return option !== undefined;
  });
  const isBuilt = option.actions[0].type === 'build';
  const { actions } = isBuilt
    ? await sandbox.call<Json>('POST', `${path}/fetch`, { optionId: option.id, data: option.actions[0].data.data })
    : option;
  const results = await wallet.answerAll(
    actions.map(({ data }: Json) => ({
      chainId: data.chain_id,
      method: data.method,
      params: JSON.stringify(data.params),
    })),
  );
  await sandbox.call('POST', `${path}/confirm`, {
    optionId: option.id,
    results: results.map((result) => ({ type: 'walletRpc', data: [result] })),
  });
  const hasSucceeded = async () => (await sandbox.call<Json>('GET', `${path}/status`)).status === 'succeeded';
  await until(`${symbol} has paid ${paymentId}`, hasSucceeded, { withinMs: PAID_WITHIN_MS });
}

/** Sets the fees of a merchant, with a fixed part, and waits until the gateway applies them. */
export async function setFees(sandbox: Sandbox, merchantId: string, ...terms: string[]): Promise<void> {
  const env = { DATABASE_URL: sandbox.databaseUrl };
  const { exitCode, stderr } = await runCommand(['fees', 'set', '--merchant', merchantId, ...terms], { env });
  assert.equal(exitCode, 0, stderr);
  // A cent does not cover the fixed part.
  const isFloorKnown = () =>
    sandbox.createPayment('iso4217/USD', '1', {}, merchantId).then(
      () => false,
      () => true,
    );
  await until('the fees are in force', isFloorKnown, { withinMs: FEES_WITHIN_MS });
}
