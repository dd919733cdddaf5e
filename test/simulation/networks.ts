import type { ConnectedChain } from '../../src/chains/chains.ts';
import type { MemoryChainControl } from '../../src/chains/memory/control.ts';
import { createMemoryChain } from '../../src/chains/memory/memory-chain.ts';
import { checksumAddress } from '../../src/domain/addresses/eip155.ts';
import { signerFromKey } from '../chains/signer.ts';
import { assetsOf, findNetwork } from '../registry.ts';
import type { Scheduler } from './scheduler.ts';

/** The network of every run, and the one that some runs have besides. */
export const NETWORK = 'eip155:8453';
export const SECOND_NETWORK = 'eip155:56';

export const USDC = assetOn(NETWORK, 'USDC');
/** Its contract has the same address on both networks. */
export const AUSD = assetOn(NETWORK, 'AUSD');
export const COIN = assetOn(NETWORK, 'ETH');
/** A token that no payment asks for. */
export const OTHER_TOKEN = assetOn(NETWORK, 'EURC');
/** The dollar of the second network has 18 decimals: one unit of the other is a million million of this one. */
export const WIDE_USDC = assetOn(SECOND_NETWORK, 'USDC');
export const SECOND_AUSD = assetOn(SECOND_NETWORK, 'AUSD');
const SECOND_COIN = assetOn(SECOND_NETWORK, 'BNB');

export const BLOCK_MS = 6_000;
export const DEPTH = 3;
export const ENDPOINTS = 3;
const FEE_ACCOUNT = checksumAddress('0xfee0000000000000000000000000000000000fee');
const RELAYER_KEYS = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`] as const;
const INTERMEDIATE_KEY = `0x${'7'.repeat(64)}` as const;

const PAYABLE = new Map([
  [NETWORK, [USDC, AUSD, COIN]],
  [SECOND_NETWORK, [WIDE_USDC, SECOND_AUSD, SECOND_COIN]],
]);

/** A network of a run, as the gateway reaches it and as the simulation moves it. */
export interface SimNetwork {
  readonly connected: ConnectedChain;
  readonly control: MemoryChainControl;
}

export function networkOf(asset: string): string {
  return asset.slice(0, asset.indexOf('/'));
}

/** The control of the network of an asset. */
export function controlOn(stage: WithNetworks, asset: string): MemoryChainControl {
  return networkNamed(stage, networkOf(asset)).control;
}

interface WithNetworks {
  readonly networks: readonly SimNetwork[];
}

export function networkNamed({ networks }: WithNetworks, chainId: string): SimNetwork {
  const found = networks.find(({ connected }) => connected.chain.network.chainId === chainId);
  if (found === undefined) throw new RangeError(`The run has no network ${chainId}.`);
  return found;
}

/** The tokens that a payer may be asked for, of one of these networks. */
export function tokensOn(networks: readonly SimNetwork[]): readonly string[] {
  return networks.flatMap(({ connected }) => connected.payable().filter((asset) => asset.includes('/erc20:')));
}

export function openNetwork(scheduler: Scheduler, chainId: string): SimNetwork {
  const known = findNetwork(chainId);
  if (known === undefined) throw new Error(`${chainId} is not a known network.`);
  const finality = { blockTimeMs: BLOCK_MS, depth: DEPTH, reason: 'short, so that a run sees many final blocks' };
  const { chain, control } = createMemoryChain({
    network: { ...known, finality },
    world: { clock: { nowMs: scheduler.nowMs } },
    isAutoMining: false,
    witnesses: ENDPOINTS,
  });
  const payable = PAYABLE.get(chainId) ?? [];
  const relayers = RELAYER_KEYS.map(signerFromKey);
  const intermediate = signerFromKey(INTERMEDIATE_KEY);
  const [coin = ''] = payable.filter((asset) => asset.includes('/slip44:'));
  for (const { address } of [...relayers, intermediate]) control.setBalance(address, coin, 10n ** 21n);
  // As docs/refunds.md asks of operators.
  for (const { id, pay } of assetsOf(chainId)) {
    if (pay?.method === 'permit2') control.setAllowance(intermediate.address, id, 2n ** 256n - 1n);
  }
  control.mine();
  const connected: ConnectedChain = {
    chain,
    relayers,
    feeAccount: FEE_ACCOUNT,
    intermediateAccount: intermediate.address,
    intermediateSigner: intermediate,
    payable: () => payable,
    problems: () => [],
  };
  return { control, connected };
}

/** Gives an account more of every asset than it can spend. */
export function endow({ connected, control }: SimNetwork, account: string): void {
  for (const { id, decimals, pay } of assetsOf(connected.chain.network.chainId)) {
    control.setBalance(account, id, pay?.method === 'native' ? 10n ** 21n : 10n ** BigInt(decimals + 6));
    if (pay?.method === 'permit2') control.setAllowance(account, id, 2n ** 255n);
  }
}

function assetOn(chainId: string, symbol: string): string {
  const found = assetsOf(chainId).find((asset) => asset.symbol === symbol);
  if (found === undefined) throw new Error(`${chainId} has no ${symbol}.`);
  return found.id;
}
