import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { rememberSandboxChain } from '../src/actions/remember-sandbox-chain.ts';
import type { Chains, ConnectedChain } from '../src/chains/chains.ts';
import { createEvmChain } from '../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../src/chains/evm/local-signer.ts';
import { sandboxRates } from '../src/rates/sandbox-rates.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { serveChain } from '../src/sandbox/chain-server.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { openKeptChain } from '../src/sandbox/kept-chain.ts';
import type { Screening } from '../src/screening/screening.ts';
import { migrate } from '../src/store/plumbing/migrate.ts';
import { SANDBOX } from './e2e/paying-shop.ts';
import { startTestGateway } from './gateway.ts';
import { type OlderState, restoreChain, restoreDatabase } from './older-version.ts';
import { assetsOf, findNetwork } from './registry.ts';
import { until } from './until.ts';

const BLOCK_MS = 100;

export type UpgradedGateway = Awaited<ReturnType<typeof openUpgraded>>;

/** Today's gateway on the database and the chain of an older version. Time goes on from where that version stopped. */
export async function openUpgraded(older: OlderState, { screening }: { readonly screening?: Screening } = {}) {
  const stops: (() => unknown)[] = [];
  let offsetMs = older.madeAtMs - Date.now();
  const world = { ...systemWorld, clock: { nowMs: () => Date.now() + offsetMs } };
  const database = await restoreDatabase(older);
  stops.push(() => database.drop());
  await migrate({ log: pino({ level: 'silent' }) }, database.url);
  const folder = await restoreChain(older);
  stops.push(() => folder.remove());
  const onBroken = (error: unknown) => {
    throw error;
  };
  const chain = await openKeptChain(world, { dir: folder.dir, blockMs: BLOCK_MS, isScriptable: false, onBroken });
  const server = await serveChain(chain, { port: 0, isScriptable: false });
  stops.push(
    () => chain.close(),
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const network = findNetwork(SANDBOX);
  assert.ok(network);
  const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connected: ConnectedChain = {
    chain: createEvmChain({ world, network, endpoints: [rpcUrl] }),
    relayers: [createLocalSigner(SANDBOX_KEYS.relayer)],
    feeAccount: SANDBOX_ACCOUNTS.feeAccount,
    intermediateAccount: SANDBOX_ACCOUNTS.intermediate,
    intermediateSigner: createLocalSigner(SANDBOX_KEYS.intermediate),
    payable: () => assetsOf(SANDBOX).map(({ id }) => id),
    problems: () => [],
  };
  const chains: Chains = { find: (id) => (id === SANDBOX ? connected : undefined), list: () => [connected] };
  const gateway = await startTestGateway({
    databaseUrl: database.url,
    chains,
    rates: sandboxRates(),
    world,
    ...(screening && { screening }),
  });
  stops.push(
    () => connected.chain.close(),
    () => gateway.stop(),
  );
  await rememberSandboxChain(gateway, chain.genesisHash);
  const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
  async function ask(method: string, params: readonly unknown[]) {
    const { result, error } = JSON.parse(await chain.pass({ id: 1, method, params }));
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  }
  return {
    ...{ gateway, chain, chains, connected },
    /** Runs until the gateway closes. */
    run(stop: () => unknown): void {
      stops.push(stop);
    },
    pass(ms: number): void {
      offsetMs += ms;
    },
    ask,
    /** The payer's wallet sends a transaction. */
    async send({ to, data, value = '0x0' }: { to: Hex; data: Hex; value?: Hex }): Promise<string> {
      const nonce = Number(await ask('eth_getTransactionCount', [payer.address, 'pending']));
      const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
      const call = { to, data, value: BigInt(value), gas: 200_000n, nonce, chainId: 31_337, ...fees };
      const raw = await payer.signTransaction({ type: 'eip1559', ...call });
      const sent = JSON.parse(await chain.send({ id: 1, method: 'eth_sendRawTransaction', params: [raw] }));
      assert.equal(sent.error, undefined, JSON.stringify(sent.error));
      await until('it is mined', async () => (await ask('eth_getTransactionReceipt', [sent.result])) !== null);
      return sent.result;
    },
    async close(): Promise<void> {
      for (const stop of stops.reverse()) await stop();
    },
  };
}
