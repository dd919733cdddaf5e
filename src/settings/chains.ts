import type { ChainTerms } from '../chains/connect.ts';
import { familyOf } from '../chains/families.ts';
import type { Network } from '../chains/network.ts';
import type { Signer } from '../chains/signer.ts';
import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import type { Log, World } from '../runtime/world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../sandbox/genesis.ts';
import { SANDBOX_NETWORK } from '../sandbox/sandbox-network.ts';
import type { Config } from './config.ts';
import { isAddress, type PerNetwork, valueOn } from './network-kinds.ts';

/**
 * The default balance below which a relayer raises an alert. A hundredth of a coin pays for some hundred batches on networks with
 * expensive gas.
 */
const DEFAULT_MIN_BALANCE = 10n ** 16n;

const GWEI = 10n ** 9n;
const COIN = 10n ** 18n;
/**
 * The default cap of the gas price. It is far above usual prices of some gwei: the cap stops spending when something is wrong.
 * Records of networks may have other caps.
 */
const GAS_PRICE_CAP = 1_000n * GWEI;
/**
 * The default limit of gas costs per hour, enough for thousands of payments an hour at usual prices. Records of networks with cheap
 * coins have higher limits.
 */
const GAS_COST_PER_HOUR = 5n * COIN;
/** The default limit of gas per payment. It is enough for two transactions of a payer's contract account that burns all gas it gets. */
const DEFAULT_GAS_PER_ITEM = 1_500_000n;
/** The default limit of gas per paying account in an hour, enough for some hundred payments. */
const DEFAULT_GAS_PER_PAYER_HOUR = 50_000_000n;

export class ChainSettingsError extends Error {
  override readonly name = 'ChainSettingsError';
}

export interface NetworkInUse {
  readonly network: Network;
  readonly endpoints: readonly string[];
}

/** True if the gateway starts its own chain, because no endpoints are configured. */
export function needsOwnChain(config: Config): boolean {
  return config.rpcUrls === undefined;
}

/** True if the gateway uses a sandbox chain alone, its own or another node's. */
export function isSandbox(config: Config): boolean {
  return [...(config.rpcUrls?.keys() ?? [])].every((network) => network === SANDBOX_NETWORK);
}

/** The configured networks. If none is configured, the sandbox chain, if it runs. */
export function networksInUse(config: Config, sandbox: { readonly rpcUrl: string } | undefined): NetworkInUse[] {
  const urls = config.rpcUrls ?? (sandbox === undefined ? [] : [[SANDBOX_NETWORK, [sandbox.rpcUrl]] as const]);
  return [...urls].map(([chainId, endpoints]) => ({ network: networkOf(config, chainId), endpoints }));
}

export function chainTerms(
  deps: { world: World; log: Log; config: Config; genesisOf?: (chainId: string) => string | undefined },
  networks: readonly NetworkInUse[],
): ChainTerms[] {
  // Networks use the real clock: budgets, pauses and timeouts of endpoints must not follow a sandbox's clock.
  const world = unshiftedWorld(deps.world);
  return networks.map(({ network, endpoints }) => ({
    chain: familyOf(network.chainId).createChain({
      world,
      log: deps.log,
      network,
      endpoints,
      genesis: () => deps.genesisOf?.(network.chainId),
    }),
    relayers: relayersOf(deps, network),
    feeAccount: accountOf(deps.config.feeAccount, network, SANDBOX_ACCOUNTS.feeAccount),
    intermediateAccount: accountOf(deps.config.intermediateAccount, network, SANDBOX_ACCOUNTS.intermediate),
    intermediateSigner: intermediateSignerOf(deps, network),
    otherIntermediates: otherIntermediatesOf(deps, network),
  }));
}

export function relayersOf({ config, world }: { config: Config; world: World }, network: Network): Signer[] {
  const isOwn = network.chainId === SANDBOX_NETWORK;
  // Keys that are set for every network are ignored on a sandbox chain. Their accounts have no coins there, unlike the chain's own
  // relayers.
  const keys = isOwn
    ? (config.relayerKeys?.on.get(SANDBOX_NETWORK) ?? [SANDBOX_KEYS.relayer, SANDBOX_KEYS.secondRelayer])
    : (valueOn(config.relayerKeys, network.chainId) ?? []);
  refuseWellKnown('RELAYER_KEYS', keys, network);
  return keys.map((key) => signerOf({ config, world }, network, key));
}

/** The signer of the intermediate account. Undefined if no key is configured. */
export function intermediateSignerOf(deps: { config: Config; world: World }, network: Network): Signer | undefined {
  const { intermediateKey, intermediateAccount } = deps.config;
  const isOwn = network.chainId === SANDBOX_NETWORK;
  const isOwnAccount = isOwn && intermediateAccount?.on.get(SANDBOX_NETWORK) === undefined;
  const own = isOwnAccount ? SANDBOX_KEYS.intermediate : undefined;
  const key = isOwn ? (intermediateKey?.on.get(SANDBOX_NETWORK) ?? own) : valueOn(intermediateKey, network.chainId);
  if (key === undefined) return undefined;
  refuseWellKnown('INTERMEDIATE_KEY', [key], network);
  const signer = signerOf(deps, network, key);
  const account = accountOf(intermediateAccount, network, SANDBOX_ACCOUNTS.intermediate);
  if (signer.address !== account) {
    throw new ChainSettingsError(
      `INTERMEDIATE_KEY is the key of ${signer.address}, and INTERMEDIATE_ACCOUNT on ${network.chainId} is ${account}.`,
    );
  }
  return signer;
}

/** Signers of further intermediate accounts, without that of the current intermediate account. */
function otherIntermediatesOf(deps: { config: Config; world: World }, network: Network): Signer[] {
  const { otherIntermediateKeys, intermediateAccount } = deps.config;
  const isOwn = network.chainId === SANDBOX_NETWORK;
  const keys = isOwn
    ? (otherIntermediateKeys?.on.get(SANDBOX_NETWORK) ?? [])
    : (valueOn(otherIntermediateKeys, network.chainId) ?? []);
  refuseWellKnown('OTHER_INTERMEDIATE_KEYS', keys, network);
  const present = accountOf(intermediateAccount, network, SANDBOX_ACCOUNTS.intermediate);
  return keys.map((key) => signerOf(deps, network, key)).filter(({ address }) => address !== present);
}

function refuseWellKnown(env: string, keys: readonly string[], network: Network): void {
  const wellKnown: ReadonlySet<string> = new Set(Object.values(SANDBOX_KEYS));
  if (network.chainId === SANDBOX_NETWORK || !keys.some((key) => wellKnown.has(key))) return;
  throw new ChainSettingsError(
    `${env} has a key of the sandbox for ${network.chainId}. Everybody knows it: use one of your own.`,
  );
}

function signerOf({ config, world }: { config: Config; world: World }, { chainId }: Network, key: string): Signer {
  const { externalSignerUrl: url } = config;
  const family = familyOf(chainId);
  return url !== undefined && isAddress(key)
    ? family.createExternalSigner({ timers: world.timers, url, address: key })
    : family.createLocalSigner(key);
}

/** The balance below which a relayer raises an alert. */
export function minBalanceOn(config: Config, network: string): bigint {
  return valueOn(config.relayerMinBalance, network) ?? DEFAULT_MIN_BALANCE;
}

/** The smallest payment to a deposit address, in whole tokens. Undefined if the network offers no deposit addresses. */
export function depositMinimumOn(config: Config, network: string): bigint | undefined {
  // The sandbox chain has no minimum, because gas is free there.
  return valueOn(config.depositMinimum, network) ?? (network === SANDBOX_NETWORK ? 0n : undefined);
}

export function gasBudgets(config: Config) {
  const on = <T>(setting: PerNetwork<T> | undefined, network: string, fallback: T | undefined): T | undefined =>
    valueOn(setting, network) ?? fallback;
  return {
    // The sandbox chain has no caps, because gas is free there, and benchmarks use much of it.
    feeCap: (network: string) =>
      on(
        config.gasPriceCap,
        network,
        exceptSandbox(network, config.registry.network(network)?.gasPriceCap ?? GAS_PRICE_CAP),
      ),
    costPerHour: (network: string) =>
      on(
        config.gasCostPerHour,
        network,
        exceptSandbox(network, config.registry.network(network)?.gasCostPerHour ?? GAS_COST_PER_HOUR),
      ),
    workPerItem: (network: string) => on(config.gasPerItem, network, DEFAULT_GAS_PER_ITEM),
    workPerPayerHour: (network: string) => on(config.gasPerPayerHour, network, DEFAULT_GAS_PER_PAYER_HOUR),
  };
}

function exceptSandbox(network: string, value: bigint): bigint | undefined {
  return network === SANDBOX_NETWORK ? undefined : value;
}

function accountOf(setting: Config['feeAccount'], network: Network, sandboxAccount: string): string {
  if (network.chainId === SANDBOX_NETWORK) return setting?.on.get(SANDBOX_NETWORK) ?? sandboxAccount;
  const account = valueOn(setting, network.chainId);
  if (account === undefined) throw new ChainSettingsError(`No account is configured on ${network.chainId}.`);
  return account;
}

/** The network with the operator's finality settings: more or larger depths, and another `loneCeiling`. */
function networkOf(config: Config, chainId: string): Network {
  const network = config.registry.network(chainId);
  if (network?.finality === undefined) throw new ChainSettingsError(`Till takes no payments on ${chainId}.`);
  const { finality } = network;
  const asked = valueOn(config.finalityDepths, chainId) ?? [];
  const always = asked.filter(({ from }) => from === 0n).map(({ depth = 0 }) => depth);
  const loneCeiling = valueOn(config.loneCeiling, chainId);
  return {
    ...network,
    finality: {
      ...finality,
      depth: Math.max(finality.depth, ...always),
      tiers: [...(finality.tiers ?? []), ...asked],
      ...(loneCeiling !== undefined && { loneCeiling }),
    },
  };
}
