import { parseAsset, parseChainId } from '../../domain/caip.ts';
import { findCurrency } from '../../domain/currency.ts';
import { parseDecimal, scaledTo } from '../../domain/money.ts';
import type { Coin, Finality, KnownAsset, Network, PayTerms } from '../network.ts';
import { checkShape, type ShapeProblem } from './check-shape.ts';
import type { JsonPath } from './json-text.ts';
import { NetworkFile, type TokenFile } from './network-schema.ts';

const PEGGED_QUOTE_DECIMALS = 2;
const GWEI_DECIMALS = 9;
const COIN_DECIMALS = 18;

/** Reads a network from the content of a file. If the content has problems, returns all of them. */
export function readRecord(
  value: unknown,
): { readonly network: Network } | { readonly problems: readonly ShapeProblem[] } {
  const shape = checkShape(NetworkFile, value);
  if (shape.length > 0) return { problems: shape };
  const file = value as NetworkFile;
  const problems = [...idProblems(file), ...finalityProblems(file), ...coinProblems(file), ...tokenProblems(file)];
  return problems.length > 0 ? { problems } : { network: networkOf(file) };
}

function at(path: JsonPath, text: string): ShapeProblem {
  return { path, text };
}

function idProblems({ id, mode, isTrustedAlone }: NetworkFile): ShapeProblem[] {
  const chain = parseChainId(id);
  return [
    ...(chain.ok ? [] : [at(['id'], chain.problem)]),
    ...(isTrustedAlone && mode === 'live'
      ? [at(['isTrustedAlone'], 'is for test networks: with real money, two endpoints must agree. Leave it out')]
      : []),
  ];
}

function finalityProblems({ finality, blockTimeMs }: NetworkFile): ShapeProblem[] {
  if (finality === undefined) return [];
  const { tags = [], tiers = [] } = finality;
  const wrong = tiers.flatMap(({ depth, tag }, index) => {
    const path = ['finality', 'tiers', index];
    if (depth === undefined && tag === undefined) return [at(path, 'must have a depth or a tag')];
    if (tag !== undefined && !tags.includes(tag)) {
      return [
        at([...path, 'tag'], `names a tag that finality.tags does not have. Add "${tag}" to it if nodes know the tag`),
      ];
    }
    if (depth !== undefined && depth < finality.depth) {
      return [at([...path, 'depth'], `is less than the depth of all payments, ${finality.depth}`)];
    }
    return [];
  });
  return blockTimeMs === undefined ? [at(['blockTimeMs'], 'is missing, and finality needs it'), ...wrong] : wrong;
}

function coinProblems({ id, coin }: NetworkFile): ShapeProblem[] {
  const path = ['coin'];
  const isEvm = id.startsWith('eip155:');
  return [
    ...(isEvm && coin.decimals !== COIN_DECIMALS
      ? [at([...path, 'decimals'], `must be ${COIN_DECIMALS}: coins of EVM chains have no others`)]
      : []),
    ...quoteProblems(coin, path),
    ...(coin.pay !== undefined && coin.quoteDecimals === undefined
      ? [at([...path, 'quoteDecimals'], 'is missing, and quotes in the coin need it')]
      : []),
  ];
}

function quoteProblems(
  { decimals, quoteDecimals = 0 }: { readonly decimals: number; readonly quoteDecimals?: number },
  path: JsonPath,
): ShapeProblem[] {
  const isGood = quoteDecimals <= decimals;
  return isGood ? [] : [at([...path, 'quoteDecimals'], `must be ${decimals} at most, the decimals of the contract`)];
}

function tokenProblems({ id, coin, tokens }: NetworkFile): ShapeProblem[] {
  // The problem of a wrong id is named once, and not for each token.
  const hasChain = parseChainId(id).ok;
  // Payers are not offered a retired token, so a new token may have its symbol.
  const seen = new Map<string, string>([[coin.symbol, 'the coin']]);
  const addresses = new Map<string, string>();
  return tokens.flatMap((token, index) => {
    const path = ['tokens', index];
    const name = `tokens[${index}]`;
    const asset = parseAsset(assetId(id, token.address));
    const key = asset.ok ? asset.value.key : token.address;
    const twice = token.retired ? undefined : seen.get(token.symbol);
    const known = addresses.get(key);
    if (!token.retired) seen.set(token.symbol, twice ?? name);
    addresses.set(key, known ?? name);
    return [
      ...(asset.ok || !hasChain ? [] : [at([...path, 'address'], addressProblem(asset.problem))]),
      ...(known === undefined ? [] : [at([...path, 'address'], `is that of ${known}, too. Remove one of them`)]),
      ...(twice === undefined
        ? []
        : [
            at(
              [...path, 'symbol'],
              `${token.symbol} is that of ${twice}, too. Payers could not tell them apart: change one`,
            ),
          ]),
      ...pegProblems(token, path),
      ...quoteProblems(token, path),
      ...payProblems(token, path),
    ];
  });
}

/**
 * The problem of an address in words. It does not show the right checksum, because a reader who copies it would turn a mistyped
 * address into a valid one.
 */
function addressProblem(problem: string): string {
  const text = problem.replace(/^has an address with /, 'has ').replace(/^has an address that /, '');
  return problem.includes('checksum') ? `${text}. Copy the address again from the issuer of the token` : text;
}

function pegProblems({ peg, quoteDecimals }: TokenFile, path: JsonPath): ShapeProblem[] {
  if (peg !== undefined && findCurrency(peg) === undefined) {
    const way = 'Name the currency, such as "USD"; leave peg out if the token has a price of its own';
    return [at([...path, 'peg'], `must be an ISO 4217 currency. ${way}`)];
  }
  if (peg === undefined && quoteDecimals === undefined) {
    return [at([...path, 'quoteDecimals'], 'is missing. Tokens without a peg need it; 6 suits most of them')];
  }
  return [];
}

function payProblems({ pay, domain, approvesThroughZero }: TokenFile, path: JsonPath): ShapeProblem[] {
  const needsDomain = pay === 'eip3009-bytes' || pay === 'eip3009-vrs';
  if (needsDomain && domain === undefined) {
    const way = 'Copy them from the contract';
    return [
      at([...path, 'domain'], `is missing: payers sign for the EIP-712 name and version of the contract. ${way}`),
    ];
  }
  if (!needsDomain && domain !== undefined) return [at([...path, 'domain'], 'is used by EIP-3009 alone. Leave it out')];
  if (pay !== 'permit2' && approvesThroughZero) {
    return [at([...path, 'approvesThroughZero'], 'is used by Permit2 alone. Leave it out')];
  }
  return [];
}

function networkOf(file: NetworkFile): Network {
  const { id, name, mode, explorer, isTrustedAlone, gas = {} } = file;
  const { minTip, maxTip, priceCap, costPerHour, paysForData } = gas;
  const coin: Coin = { id: `${id}/slip44:${file.coin.slip44}`, symbol: file.coin.symbol, decimals: file.coin.decimals };
  const assets = [...coinAsset(coin, file), ...file.tokens.map((token) => tokenAsset(file, token))];
  const finality = finalityOf(file);
  return {
    chainId: id,
    name,
    mode,
    coin,
    assets: new Map(assets.map((asset) => [asset.id, asset])),
    ...(explorer !== undefined && { explorer }),
    ...(finality !== undefined && { finality }),
    ...(isTrustedAlone && { isTrustedAlone }),
    ...(file.retired && { isRetired: file.retired }),
    ...(minTip !== undefined && { minTip: scaled(minTip, GWEI_DECIMALS) }),
    ...(maxTip !== undefined && { maxTip: scaled(maxTip, GWEI_DECIMALS) }),
    ...(priceCap !== undefined && { gasPriceCap: scaled(priceCap, GWEI_DECIMALS) }),
    ...(costPerHour !== undefined && { gasCostPerHour: scaled(costPerHour, COIN_DECIMALS) }),
    ...(paysForData && { gasPaysForData: paysForData }),
  };
}

function finalityOf({ finality, blockTimeMs }: NetworkFile): Finality | undefined {
  if (finality === undefined || blockTimeMs === undefined) return undefined;
  const { depth, reason, tags, tiers, loneCeiling } = finality;
  return {
    blockTimeMs,
    depth,
    reason,
    ...(tags !== undefined && { tags }),
    ...(tiers !== undefined && { tiers: tiers.map(({ from, ...rest }) => ({ from: BigInt(from), ...rest })) }),
    ...(loneCeiling !== undefined && { loneCeiling: BigInt(loneCeiling) }),
  };
}

function coinAsset({ id, symbol, decimals }: Coin, { coin, ...network }: NetworkFile): KnownAsset[] {
  const { name, quoteDecimals, ratedAs, worthAtMost, pay } = coin;
  const retired = coin.retired ?? network.retired;
  if (quoteDecimals === undefined) return [];
  return [
    {
      id,
      symbol,
      name,
      decimals,
      quoteDecimals,
      ...(ratedAs !== undefined && { ratedAs }),
      ...(worthAtMost !== undefined && { worthAtMost: BigInt(worthAtMost) }),
      ...(pay !== undefined && { pay: { method: pay } }),
      ...(retired && { isRetired: retired }),
    },
  ];
}

function tokenAsset(network: NetworkFile, token: TokenFile): KnownAsset {
  const { address, symbol, name, decimals, peg, ratedAs, worthAtMost, blacklist } = token;
  const { retired = network.retired } = token;
  const parsed = parseAsset(assetId(network.id, address));
  if (!parsed.ok) throw new RangeError(parsed.problem);
  const { quoteDecimals = Math.min(PEGGED_QUOTE_DECIMALS, decimals) } = token;
  const pay = payOf(token);
  return {
    id: parsed.value.id,
    symbol,
    name,
    decimals,
    quoteDecimals,
    ...(peg !== undefined && { peg }),
    ...(ratedAs !== undefined && { ratedAs }),
    ...(worthAtMost !== undefined && { worthAtMost: BigInt(worthAtMost) }),
    ...(pay !== undefined && { pay }),
    ...(blacklist !== undefined && { blacklist }),
    ...(retired && { isRetired: retired }),
  };
}

function payOf({ pay, domain, approvesThroughZero }: TokenFile): PayTerms | undefined {
  if (pay === undefined) return undefined;
  if (pay === 'permit2') return { method: pay, ...(approvesThroughZero && { approvesThroughZero }) };
  if (domain === undefined) throw new RangeError('EIP-3009 needs a domain');
  return { method: pay, domain };
}

function assetId(network: string, address: string): string {
  return `${network}/${network.startsWith('solana:') ? 'token' : 'erc20'}:${address}`;
}

function scaled(text: string, decimals: number): bigint {
  const amount = parseDecimal(text);
  if (amount === undefined) throw new RangeError(`${text} is no amount`);
  return scaledTo(amount, decimals);
}
