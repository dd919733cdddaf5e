import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Chain } from '../src/chains/chain.ts';
import { createEvmChain } from '../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../src/chains/evm/local-signer.ts';
import type { PayerSide } from '../src/chains/payer-side.ts';
import { newId } from '../src/domain/ids.ts';
import type { SignedItem } from '../src/domain/item.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { findNetwork } from '../test/registry.ts';
import { startCountingProxy } from './counting-proxy.ts';
import { readCpuUse } from './cpu-use.ts';
import { type Figure, type Measurement, round } from './figures.ts';
import { batchOf, send, withSeal } from './gas.ts';
import {
  ASSET,
  CHAIN_ID,
  FEE_UNITS,
  NETWORK,
  type PayingChain,
  PRICE_UNITS,
  startPayingChain,
  USDC,
} from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers } from './paying-payers.ts';
import { until } from './processes.ts';

const ADDRESSES = 100_000;
const BLOCK_MS = 2_000;
/** The blocks of each phase, and the payments of others in each block: two transfers of the token each. */
const BLOCKS = 15;
const PAYMENTS_PER_BLOCK = 100;

/** The gas of sweeps, and the cost of watching many deposit addresses. */
export const depositsMeasurement: Measurement = {
  names: ['deposits_gas', 'deposits_gas_1', 'deposits_watch', 'deposits_calls'],
  async measure(wanted) {
    const isWanted = ({ name }: Figure) => wanted.has(name);
    const gas = wanted.has('deposits_gas') || wanted.has('deposits_gas_1') ? await measureGas() : [];
    const watching = wanted.has('deposits_watch') || wanted.has('deposits_calls') ? await measureWatching() : [];
    return [...gas, ...watching].filter(isWanted);
  },
};

async function withChain<T>(blockMs: number, work: (rpc: PayingChain, chain: Chain) => Promise<T>): Promise<T> {
  const rpc = await startPayingChain({ blockMs });
  const network = findNetwork(NETWORK);
  if (network === undefined) throw new Error('There is no sandbox network.');
  const chain = createEvmChain({ world: systemWorld, network, endpoints: [rpc.rpcUrl] });
  try {
    await chain.check();
    return await work(rpc, chain);
  } finally {
    chain.close();
    await rpc.stop();
  }
}

/** Gas does not depend on the machine. All accounts but the deposit addresses hold the token before, on both sides. */
function measureGas(): Promise<Figure[]> {
  return withChain(200, async (rpc, chain) => {
    const plain = await plainGas(rpc);
    const figure = async (name: string, count: number, atMost: number): Promise<Figure> => {
      const gas = await send(
        chain,
        createLocalSigner(SANDBOX_KEYS.relayer),
        await sweepOf(rpc, chain.payerSide, count),
      );
      const each = Number(gas) / count;
      return {
        name,
        value: round(each / plain, 3),
        target: { atMost },
        unit: 'x',
        detail: {
          'gas of a sweep, with the creation of the proxy': round(each),
          'sweeps in the transaction': count,
          'gas of a plain transfer': plain,
        },
      };
    };
    return [await figure('deposits_gas', 10, 1.65), await figure('deposits_gas_1', 1, 2.45)];
  });
}

/** A transfer of the token from a holder to a holder. */
async function plainGas(rpc: PayingChain): Promise<number> {
  const account = privateKeyToAccount(SANDBOX_KEYS.secondRelayer);
  const [holder] = await createPayers('plain transfer', 1);
  if (holder === undefined) throw new Error('There is no holder.');
  await rpc.fund(USDC, [account.address, holder.address], 10n * PRICE_UNITS);
  const abi = parseAbi(['function transfer(address to, uint256 value)']);
  const bytes = await account.signTransaction({
    chainId: CHAIN_ID,
    nonce: Number(await rpc.request<Hex>('eth_getTransactionCount', account.address, 'latest')),
    to: USDC,
    data: encodeFunctionData({ abi, args: [holder.address, PRICE_UNITS] }),
    gas: 200_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  const hash = await rpc.request<Hex>('eth_sendRawTransaction', bytes);
  const receipt = await until(
    'the transfer is mined',
    async () => (await rpc.request<{ gasUsed: Hex } | null>('eth_getTransactionReceipt', hash)) ?? undefined,
    { withinMs: 20_000 },
  );
  return Number(receipt.gasUsed);
}

/** Deposit addresses with money, each of another merchant. */
async function sweepOf(rpc: PayingChain, payerSide: PayerSide, count: number): Promise<SignedItem[]> {
  const merchants = await createPayers(`sweep ${count}`, count);
  const collector = payerSide.depositContract();
  if (collector === undefined) throw new Error('The contract of deposit addresses is missing.');
  const batch = merchants.map(({ address: recipient }): SignedItem => {
    const item = withSeal({
      network: NETWORK,
      collector,
      asset: ASSET,
      method: 'deposit',
      subject: newId('pay_', Date.now(), systemWorld.random.bytes(10)),
      payer: collector,
      recipient,
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      amount: PRICE_UNITS,
      fee: FEE_UNITS,
      deadlineS: 0,
    });
    const addressed = { ...item, payer: payerSide.depositAddressOf(item) };
    return { item: addressed, commitment: payerSide.commitmentOf(item), signature: '0x', hasCode: false };
  });
  const holders = [...merchants.map(({ address }) => address), SANDBOX_ACCOUNTS.feeAccount];
  await rpc.fund(USDC, [...holders, ...batch.map(({ item }) => item.payer)], PRICE_UNITS);
  return batch;
}

/** The same traffic without addresses, with one, and with all of them. */
function measureWatching(): Promise<Figure[]> {
  return withChain(BLOCK_MS, async (rpc, chain) => {
    const proxy = await startCountingProxy(rpc.rpcUrl);
    const destination = `${NETWORK}:${SANDBOX_ACCOUNTS.feeAccount}`;
    const gateway = await startPayingGateway({
      rpcUrls: { [NETWORK]: [proxy.url] },
      destinations: [{ asset: ASSET, destination }],
    });
    const phase = async (addresses: number) => {
      await openAddresses(gateway, addresses);
      const batches: SignedItem[][] = [];
      while (batches.length < BLOCKS) batches.push(await batchOf(rpc, chain.payerSide, PAYMENTS_PER_BLOCK));
      // The addresses are loaded, and the blocks so far are read.
      await sleep(3 * BLOCK_MS);
      return observe(gateway, { chain, proxy, batches });
    };
    try {
      const [none, one, all] = [await phase(0), await phase(1), await phase(ADDRESSES)];
      const detail = {
        'addresses, blocks, transfers of the token in each block': [ADDRESSES, BLOCKS, 2 * PAYMENTS_PER_BLOCK],
        'share of a core, gateway and PostgreSQL: without addresses, with one, with all': [none, one, all].map(
          ({ core }) => core,
        ),
        'calls for each block: without addresses, with one, with all': [none, one, all].map(({ calls }) => calls),
      };
      return [
        {
          name: 'deposits_watch',
          value: Math.max(0, round(all.core - none.core, 4)),
          target: { atMost: 0.05 },
          unit: 'x',
          detail,
        },
        { name: 'deposits_calls', value: round(all.calls / one.calls, 3), target: { atMost: 1.05 }, unit: 'x', detail },
      ];
    } finally {
      await gateway.stop();
      await proxy.stop();
    }
  });
}

interface Phase {
  readonly chain: Chain;
  readonly proxy: { count(): number };
  readonly batches: readonly (readonly SignedItem[])[];
}

/** The processor time and the calls of the gateway while others pay. */
async function observe(gateway: PayingGateway, { chain, proxy, batches }: Phase) {
  const signer = createLocalSigner(SANDBOX_KEYS.secondRelayer);
  let nonce = await chain.sender.usedSlots(signer.address);
  const [cpuBefore, callsBefore, startMs] = [await readCpuUse(gateway.pid), proxy.count(), Date.now()];
  const headBefore = (await chain.reader.head()).number;
  for (const batch of batches) {
    const { bytes } = await chain.sender.signBatch(signer, batch, {
      slot: nonce,
      offer: await chain.sender.suggestOffer(),
    });
    await chain.sender.broadcast(bytes);
    nonce += 1;
    await sleep(BLOCK_MS);
  }
  const cpuAfter = await readCpuUse(gateway.pid);
  const [calls, spentMs] = [proxy.count() - callsBefore, Date.now() - startMs];
  const blocks = (await chain.reader.head()).number - headBefore;
  const usedMs = cpuAfter.ownMs - cpuBefore.ownMs + cpuAfter.belowMs - cpuBefore.belowMs;
  return { core: round(usedMs / spentMs, 4), calls: round(calls / Math.max(1, blocks)) };
}

/** Writes open deposit addresses, as requests of an hour ago would have left them. Nobody sends money to them. */
async function openAddresses({ sql, merchants }: PayingGateway, count: number): Promise<void> {
  const [merchantId = ''] = merchants;
  const collector = SANDBOX_ACCOUNTS.feeAccount;
  await sql`
    insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
      created_at, updated_at, expires_at, native_deadline)
    select 'pay_' || lpad(upper(to_hex(${count} + n)), 26, '0'), m.partner_id, m.mode, m.id, 'x', 'iso4217/USD', 1000, 2,
      now() - interval '1 hour', now() - interval '1 hour', now() + interval '1 day', now() + interval '1 day'
    from merchants m, generate_series(1, ${count}::int) as n where m.id = ${merchantId}`;
  await sql`
    insert into items (commitment, subject, purpose, network, collector, asset, method, payer, account, recipient,
      fee_account, amount, fee, deadline, is_held, buyer_name, state, has_code, accepted_at)
    select '0x' || encode(sha256(p.id::bytea), 'hex'), p.id, 'payment', ${NETWORK}, ${collector}, ${ASSET}, 'deposit',
      '0x' || substr(encode(sha256(p.id::bytea), 'hex'), 1, 40), '', ${collector}, ${collector},
      ${PRICE_UNITS.toString()}::numeric, 0, p.expires_at, false, 'Wallet', 'offered', false, p.created_at
    from payments p where native_deadline is not null on conflict do nothing`;
  await sql`
    insert into deposits (commitment, network, address, payment_id, asset, opened_at, mac)
    select commitment, network, payer, subject, asset, accepted_at, '' from items where method = 'deposit'
    on conflict do nothing`;
  for (const table of ['payments', 'items', 'deposits']) await sql.unsafe(`vacuum (analyze) ${table}`);
}
