import type { Hex, TypedDataDefinition } from 'viem';
import type { Chain } from '../src/chains/chain.ts';
import { COLLECTOR_ADDRESS } from '../src/chains/evm/collector.ts';
import { createEvmChain } from '../src/chains/evm/evm-chain.ts';
import { createLocalSigner } from '../src/chains/evm/local-signer.ts';
import type { PayerSide } from '../src/chains/payer-side.ts';
import type { Signer } from '../src/chains/signer.ts';
import { newId } from '../src/domain/ids.ts';
import type { Item, SignedItem } from '../src/domain/item.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { findAsset, findNetwork } from '../test/registry.ts';
import { type Figure, type Measurement, round } from './figures.ts';
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
import { createPayers, type Payer } from './paying-payers.ts';
import { startFacilitator } from './peer/facilitator.ts';
import { signPeerPayment } from './peer/payload.ts';
import { settlePeerPayment } from './peer/settle.ts';
import { until } from './processes.ts';

const LIFETIME_S = 3600;
const MINED_WITHIN_MS = 20_000;

/**
 * Gas does not depend on the machine, so one run is exact. Every payer keeps a balance, every merchant and the fee
 * account hold the token already: the first balance of an account costs more, and emptying one costs less, for both
 * sides.
 */
export const gasMeasurement: Measurement = {
  names: ['gas', 'gas_1'],
  async measure(wanted) {
    const rpc = await startPayingChain({ blockMs: 200 });
    const network = findNetwork(NETWORK);
    if (network === undefined) throw new Error('There is no sandbox network.');
    const chain = createEvmChain({ world: systemWorld, network, endpoints: [rpc.rpcUrl] });
    try {
      const theirs = await peerGas(rpc);
      const sized = async (name: string, count: number | 'full', atMost: number): Promise<Figure> => {
        const ours = await ourGas(rpc, chain, count);
        return {
          name,
          value: round(ours.perPayment / theirs, 3),
          target: { atMost },
          unit: 'x',
          detail: {
            'Collector, gas per payment': round(ours.perPayment),
            'Collector, payments in the transaction': ours.count,
            'facilitator, gas of one transferWithAuthorization': theirs,
          },
        };
      };
      return [
        ...(wanted.has('gas') ? [await sized('gas', 'full', 0.78)] : []),
        ...(wanted.has('gas_1') ? [await sized('gas_1', 1, 1.4)] : []),
      ];
    } finally {
      chain.close();
      await rpc.stop();
    }
  },
};

async function peerGas(chain: PayingChain): Promise<number> {
  const relayerKey = SANDBOX_KEYS.secondRelayer;
  const facilitator = await startFacilitator({ rpcUrl: chain.rpcUrl, chainId: CHAIN_ID, relayerKey });
  try {
    const { payers, shops } = await parties(chain, 'peer gas', 1);
    const [payer, shop] = [payers[0] as Payer, shops[0] as Payer];
    const domain = { name: 'USD Coin', version: '2' };
    const nonce: Hex = `0x${'01'.repeat(32)}`;
    const terms = { payer, token: USDC, domain, chainId: CHAIN_ID, payTo: shop.address, value: PRICE_UNITS, nonce };
    const { transaction } = await settlePeerPayment(facilitator, signPeerPayment(terms));
    const receipt = await chain.request<{ gasUsed: Hex }>('eth_getTransactionReceipt', transaction);
    return Number(receipt.gasUsed);
  } finally {
    await facilitator.stop();
  }
}

async function ourGas(rpc: PayingChain, chain: Chain, size: number | 'full') {
  const signer = createLocalSigner(SANDBOX_KEYS.relayer);
  const [sample] = await batchOf(rpc, chain.payerSide, 1);
  if (sample === undefined) throw new Error('There is no item.');
  const count = size === 'full' ? chain.sender.maxBatchItems(sample.item) : size;
  const batch = await batchOf(rpc, chain.payerSide, count);
  const outcomes = await chain.sender.simulate(batch);
  if (outcomes.some(({ is }) => is !== 'paid')) throw new Error('An item of the batch would not be paid.');
  const gas = await send(chain, signer, batch);
  return { count, perPayment: Number(gas) / count };
}

/** A seal costs the same whatever its bytes are. */
export function withSeal(item: Item): Item {
  return { ...item, seal: Buffer.from(systemWorld.random.bytes(32)).toString('hex') };
}

/** Signed payments of as many payers to as many merchants. */
export async function batchOf(rpc: PayingChain, payerSide: PayerSide, count: number): Promise<SignedItem[]> {
  const { payers, shops } = await parties(rpc, `gas ${count}`, count);
  const method = findAsset(ASSET)?.pay?.method;
  if (method === undefined) throw new Error('USDC cannot be paid with.');
  const nowMs = Date.now();
  return payers.map((payer, index) => {
    const item = withSeal({
      network: NETWORK,
      collector: COLLECTOR_ADDRESS,
      asset: ASSET,
      method,
      subject: newId('pay_', nowMs, systemWorld.random.bytes(10)),
      payer: payer.address,
      recipient: shops[index]?.address ?? payer.address,
      feeAccount: SANDBOX_ACCOUNTS.feeAccount,
      amount: PRICE_UNITS,
      fee: FEE_UNITS,
      deadlineS: Math.floor(nowMs / 1000) + LIFETIME_S,
    });
    const [action] = payerSide.walletActions(item, 0n);
    const signature = payer.sign(JSON.parse(String(action?.params[1])) as TypedDataDefinition);
    return { item, commitment: payerSide.commitmentOf(item), signature, hasCode: false };
  });
}

async function parties(chain: PayingChain, name: string, count: number) {
  const [payers, shops] = [await createPayers(name, count), await createPayers(`${name} shop`, count)];
  const holders = [...payers, ...shops].map(({ address }) => address);
  await chain.fund(USDC, [...holders, SANDBOX_ACCOUNTS.feeAccount], 10n * PRICE_UNITS);
  return { payers, shops };
}

/** Sends the batch, and returns the gas that it took. */
export async function send(chain: Chain, signer: Signer, batch: readonly SignedItem[]): Promise<bigint> {
  const bid = { slot: await chain.sender.usedSlots(signer.address), offer: await chain.sender.suggestOffer() };
  const { hash, bytes } = await chain.sender.signBatch(signer, batch, bid);
  await chain.sender.broadcast(bytes);
  const mined = async () => {
    const state = await chain.sender.findTransaction(hash);
    return state.is === 'mined' ? state : undefined;
  };
  const { isReverted, workSpent } = await until('the batch is mined', mined, { withinMs: MINED_WITHIN_MS });
  if (isReverted) throw new Error('The batch reverted.');
  const { number } = await chain.reader.head();
  const paid = (await chain.reader.events(0, number)).filter(
    ({ type, transactionHash }) => type !== 'refused' && transactionHash === hash,
  );
  if (paid.length !== batch.length) throw new Error(`${paid.length} of ${batch.length} items were paid.`);
  return workSpent;
}
