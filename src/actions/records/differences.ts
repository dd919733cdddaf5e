import type { Network } from '../../chains/network.ts';
import { type AssetFacts, assetFacts, type NetworkFacts, networkFacts } from '../../chains/records/record-facts.ts';
import type { Registry } from '../../chains/registry.ts';
import {
  findOpenAssets,
  isAssetNamed,
  isNetworkNamed,
  type OpenAsset,
  type OpenKind,
} from '../../store/money/open-assets.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { type KnownRecord, listKnownRecords } from '../../store/plumbing/known-records.ts';

/** A difference between the files of networks and the facts that the database has stored of them. */
export interface Difference {
  /** CAIP-2 of the network, or CAIP-19 of the asset. */
  readonly subject: string;
  /** The fact that differs, with its position in a file. */
  readonly text: string;
  /** The remedies for the operator, as sentences. */
  readonly way: string;
  /** The consequences of accepting the change. Undefined if the change cannot be accepted. */
  readonly meaning?: string;
}

/** The stored facts of networks and assets, by CAIP-2 and CAIP-19. */
export interface Memory {
  readonly networks: ReadonlyMap<string, NetworkFacts>;
  readonly assets: ReadonlyMap<string, AssetFacts>;
}

export async function readMemory(db: Reader): Promise<Memory> {
  return memoryOf(await listKnownRecords(db));
}

export function memoryOf(rows: readonly KnownRecord[]): Memory {
  const facts = rows.map(({ subject, facts }) => [subject, facts] as const);
  return {
    networks: new Map(facts.filter(([subject]) => !subject.includes('/')) as [string, NetworkFacts][]),
    assets: new Map(facts.filter(([subject]) => subject.includes('/')) as [string, AssetFacts][]),
  };
}

/** All differences between the files and the stored facts, sorted by subject. */
export async function findDifferences(db: Reader, registry: Registry, memory: Memory): Promise<Difference[]> {
  const found = [
    ...(await Promise.all([...memory.networks].map((known) => networkDifferences(db, registry, known)))).flat(),
    ...(await Promise.all([...memory.assets].map((known) => assetDifferences(db, registry, known)))).flat(),
    ...replacementDifferences(registry, memory),
    ...removedDifferences(registry, memory, await findOpenAssets(db)),
  ];
  return found.toSorted((one, other) => (one.subject < other.subject ? -1 : one.subject > other.subject ? 1 : 0));
}

async function networkDifferences(
  db: Reader,
  registry: Registry,
  [chainId, was]: readonly [string, NetworkFacts],
): Promise<Difference[]> {
  const network = registry.network(chainId);
  if (network === undefined) return [];
  const now = networkFacts(network, was.genesis);
  const change = (field: 'mode' | 'slip44' | 'decimals', to: unknown, from: unknown, what: string) => ({
    text: `${registry.placeOf(field === 'decimals' ? now.coin : chainId, field)} is ${to}, and the database remembers ${from} as ${what}`,
    back: `write ${from} again`,
  });
  const name = `${network.name} (${chainId})`;
  const found: Difference[] = [];
  if (now.mode !== was.mode) {
    const { text, back } = change('mode', now.mode, was.mode, `the mode of ${name}`);
    const isNamed = await isNetworkNamed(db, chainId);
    const reason = `Payments and money there are ${was.mode} ones`;
    const meaning = `Nothing was paid on ${name} yet. It belongs to ${now.mode} keys from now on.`;
    found.push(difference(chainId, { text, back, reason, isNamed, meaning }));
  }
  if (now.coin !== was.coin) {
    const { text, back } = change(
      'slip44',
      numberOf(now.coin),
      numberOf(was.coin),
      `the number of the coin of ${name}`,
    );
    const isNamed = await isAssetNamed(db, was.coin);
    const reason = `Books, costs and payments have amounts in ${was.coin}`;
    const meaning = `No amount in the coin of ${name} was stored yet. It is ${now.coin} from now on.`;
    found.push(difference(chainId, { text, back, reason, isNamed, meaning }));
  } else if (now.coinDecimals !== was.coinDecimals) {
    const what = `the decimals of the coin of ${name}`;
    const { text, back } = change('decimals', now.coinDecimals, was.coinDecimals, what);
    const isNamed = await isAssetNamed(db, was.coin);
    const reason = `Books, costs and payments have amounts in ${was.coin}`;
    const meaning = `No amount in the coin of ${name} was stored yet. It has ${now.coinDecimals} decimals from now on.`;
    found.push(difference(chainId, { text, back, reason, isNamed, meaning }));
  }
  return found;
}

async function assetDifferences(
  db: Reader,
  registry: Registry,
  [id, was]: readonly [string, AssetFacts],
): Promise<Difference[]> {
  const asset = registry.asset(id);
  if (asset === undefined) return [];
  const now = assetFacts(asset);
  const name = `${asset.symbol} (${id})`;
  const isCoin = id.includes('/slip44:');
  const found: Difference[] = [];
  // The decimals of a coin are among the facts of its network, and are compared there.
  if (now.decimals !== was.decimals && !isCoin) {
    const place = registry.placeOf(id, 'decimals');
    const text = `${place} is ${now.decimals}, and the database remembers ${was.decimals} as the decimals of ${name}`;
    const isNamed = await isAssetNamed(db, id);
    const meaning = `No amount in ${name} was stored yet. Its amounts have ${now.decimals} decimals from now on.`;
    const reason = 'Payments, refunds and books have amounts in it';
    found.push(difference(id, { text, back: `write ${was.decimals} again`, reason, isNamed, meaning }));
  }
  if (now.peg !== was.peg) found.push(pegDifference(registry, id, { name, now: now.peg, was: was.peg }));
  return found;
}

interface Change {
  readonly text: string;
  readonly back: string;
  /** The reason why nobody can accept the change if `isNamed` is true. */
  readonly reason: string;
  /** True if rows of the database name the subject. */
  readonly isNamed: boolean;
  readonly meaning: string;
}

function difference(subject: string, { text, back, reason, isNamed, meaning }: Change): Difference {
  return isNamed
    ? { subject, text, way: `${reason}, so nobody can accept the change: ${back}.` }
    : { subject, text, way: orAccept(back, subject), meaning };
}

function orAccept(back: string, subject: string): string {
  return `${back[0]?.toUpperCase()}${back.slice(1)}, or run till networks accept ${subject}, which says what the change means.`;
}

function pegDifference(
  registry: Registry,
  id: string,
  {
    name,
    now,
    was,
    by = 'the database remembers',
  }: { name: string; now: string | null; was: string | null; by?: string },
): Difference {
  const place = registry.placeOf(id, 'peg');
  const present = now === null ? `${place} is missing` : `${place} is ${now}`;
  const before = was === null ? `that ${name} has no peg` : `${was} as the peg of ${name}`;
  const prices = (peg: string | null) => (peg === null ? 'by its rate' : `one to one with ${peg}`);
  return {
    subject: id,
    text: `${present}, and ${by} ${before}`,
    way: orAccept(was === null ? 'leave it out' : `write ${was} again`, id),
    meaning: `Payers pay with ${name} ${prices(now)} from now on, and no longer ${prices(was)}. Amounts that payers have confirmed stay.`,
  };
}

/**
 * Built-in tokens that a file replaces, if no operator has accepted the replacement. If the database has stored the token, its file
 * is compared with the stored facts, and not with the built-in token.
 */
function replacementDifferences(registry: Registry, { assets }: Memory): Difference[] {
  return registry.replacements.flatMap(({ asset, builtIn }) => {
    const known = assets.get(asset.id);
    const name = `${asset.symbol} (${asset.id})`;
    if (asset.id === builtIn.id) {
      if (known !== undefined) return [];
      const by = 'the built-in record has';
      return [pegDifference(registry, asset.id, { name, now: asset.peg ?? null, was: builtIn.peg ?? null, by })];
    }
    if (known?.symbol === asset.symbol) return [];
    const text = `${registry.placeOf(asset.id, 'symbol')} is ${asset.symbol}, as of the built-in token ${builtIn.id}, and its address is another one`;
    const meaning = `Payers see the contract of ${asset.id} as ${asset.symbol} from now on. Only its issuer can tell whether it is the right one.`;
    return [{ subject: asset.id, text, way: orAccept('give the token another symbol', asset.id), meaning }];
  });
}

function removedDifferences(registry: Registry, memory: Memory, open: readonly OpenAsset[]): Difference[] {
  const missing = open.filter(({ asset }) => registry.asset(asset) === undefined && !isCoin(registry, asset));
  return [...Map.groupBy(missing, ({ asset }) => asset)].map(([asset, parts]) => {
    const symbol = memory.assets.get(asset)?.symbol;
    const work = parts.map(({ kind, count }) => OPEN_WORDS[kind](count)).join('; ');
    return {
      subject: asset,
      text: `${symbol === undefined ? asset : `${symbol} (${asset})`} is in no file any more, and has ${work}`,
      way: 'Put its record back with "retired": true, and leave it there: payers are offered it no more, and all of this can end.',
    };
  });
}

/** True if the asset is the coin of a network. A coin without `quoteDecimals` only pays for gas, and is no asset of the registry. */
function isCoin(registry: Registry, asset: string): boolean {
  return registry.network(asset.split('/', 1)[0] ?? '')?.coin.id === asset;
}

const counted = (one: string, many: string) => (count: number) => (count === 1 ? `1 ${one}` : `${count} ${many}`);
const OPEN_WORDS: Readonly<Record<OpenKind, (count: number) => string>> = {
  payments: counted('open payment', 'open payments'),
  transfers: counted('transfer of ours under way', 'transfers of ours under way'),
  refunds: counted('refund that has not ended', 'refunds that have not ended'),
  held: counted('amount held for a merchant', 'amounts held for merchants'),
  unexpected: counted('amount of unexpected money', 'amounts of unexpected money'),
  balances: () => 'money in the books',
};

function numberOf(coin: string): string {
  return coin.slice(coin.lastIndexOf(':') + 1);
}

/**
 * The stored facts of networks and assets whose files were removed. They are used to display old amounts, and are never offered
 * to payers.
 */
export function rememberedRecords(registry: Registry, { networks, assets }: Memory): Network[] {
  const gone = [...assets].filter(([id]) => registry.asset(id) === undefined && !isCoin(registry, id));
  const chainIds = new Set([
    ...[...networks.keys()].filter((chainId) => registry.network(chainId) === undefined),
    ...gone.map(([id]) => id.split('/', 1)[0] ?? ''),
  ]);
  return [...chainIds].flatMap((chainId) => {
    const known = networks.get(chainId);
    if (known === undefined) return [];
    const { name, mode, coin, coinSymbol: symbol, coinDecimals: decimals } = known;
    const own = gone
      .filter(([id]) => id.startsWith(`${chainId}/`))
      .map(([id, facts]) => [id, assetOf(id, facts)] as const);
    return [
      { chainId, name, mode, coin: { id: coin, symbol, decimals }, assets: new Map(own), isRetired: true as const },
    ];
  });
}

const QUOTE_DECIMALS = 2;

function assetOf(id: string, { name, symbol, decimals, peg }: AssetFacts) {
  const quoteDecimals = Math.min(QUOTE_DECIMALS, decimals);
  return { id, name, symbol, decimals, quoteDecimals, ...(peg !== null && { peg }), isRetired: true as const };
}
