import type { Mode } from '../../domain/mode.ts';
import type { ExaminedNetwork, ExaminedToken, Found } from '../examined.ts';
import type { FinalityTag } from '../network.ts';
import { fieldName } from './check-shape.ts';
import type { NetworkFile, TokenFile } from './network-schema.ts';
import { readRecord } from './read-record.ts';

/**
 * This file drafts the records of an examined network and of an examined token, with cautious values where the chain has given no
 * answer.
 */

interface NetworkChoices {
  readonly mode: Mode;
  readonly name: string | undefined;
  readonly coin: string | undefined;
}

/**
 * The time for which a payment waits for blocks. It is this short because payments should succeed within 45 s: wallets give up
 * after 60 s.
 */
const FINALITY_MS = 30_000;
/** The least depth in blocks. One confirmation is never enough, because a reorg can replace the newest block of any chain. */
const MIN_DEPTH = 2;
const LARGE_PAYMENT = 10_000;
/** The factor by which the depth is greater for payments of `LARGE_PAYMENT` and above. */
const LARGE_FACTOR = 3;
/** The assumed coin: on most EVM chains it is called Ether. No call returns the name of the coin. */
const COIN = { symbol: 'ETH', name: 'Ether', decimals: 18, slip44: 60 };
const QUOTE_DECIMALS = 6;
const SYMBOL_FORM = /^[A-Za-z0-9₮.$+-]{1,16}$/;
const MAX_NAME = 60;

export function draftNetwork(
  { chainId, blockTime, tags }: ExaminedNetwork,
  { mode, name = `Chain ${chainId.replace(/^.*:/, '')}`, coin }: NetworkChoices,
  tokens: readonly TokenFile[],
): NetworkFile {
  return {
    id: chainId,
    name,
    mode,
    coin: coin === undefined || coin === COIN.symbol ? COIN : { ...COIN, symbol: coin, name: coin },
    ...(blockTime.is === 'found' && {
      blockTimeMs: blockTime.value.blockTimeMs,
      finality: finalityFor(blockTime.value.blockTimeMs, tags),
    }),
    tokens: [...tokens],
  };
}

function finalityFor(blockTimeMs: number, tags: ExaminedNetwork['tags']): NonNullable<NetworkFile['finality']> {
  const depth = Math.min(Math.max(MIN_DEPTH, Math.ceil(FINALITY_MS / blockTimeMs)), 3_000);
  const known = (['safe', 'finalized'] as const).filter((tag: FinalityTag) => tags[tag].is === 'found');
  return {
    depth,
    reason: `a cautious default of ${FINALITY_MS / 1_000} s of blocks and at least ${MIN_DEPTH} blocks, from a measured block time of ${blockTimeMs} ms; nobody has examined how this network takes blocks back`,
    ...(known.length > 0 && { tags: known }),
    tiers: [{ from: LARGE_PAYMENT, depth: depth * LARGE_FACTOR }],
  };
}

/** The record's entry for a token, or the reason why the contract's answers do not suffice for an entry. */
export function draftToken(
  token: ExaminedToken,
  { peg, permit2 }: { readonly peg: string | undefined; readonly permit2: Found<true> },
): { readonly entry: TokenFile } | { readonly problem: string } {
  const { address, symbol, decimals, name, blacklist } = token;
  if (!SYMBOL_FORM.test(symbol)) {
    const shown = JSON.stringify(symbol.slice(0, 40));
    const way = 'Write its entry by hand, with a symbol of 1 to 16 letters and digits';
    return { problem: `The token at ${address} has the symbol ${shown}, which payers may misread. ${way}.` };
  }
  const entry: TokenFile = {
    address,
    symbol,
    name: name.is === 'found' && name.value.length <= MAX_NAME ? name.value : symbol,
    decimals,
    ...(peg === undefined ? { quoteDecimals: Math.min(QUOTE_DECIMALS, decimals) } : { peg }),
    ...payOf(token, permit2),
    ...(blacklist.is === 'found' && { blacklist: blacklist.value }),
  };
  return { entry };
}

/**
 * The payment method of a token. It may be Permit2 while the deployment of Permit2 is unknown, because a gateway offers Permit2
 * only where it is deployed.
 */
function payOf({ authorizations, domain }: ExaminedToken, permit2: Found<true>): Pick<TokenFile, 'pay' | 'domain'> {
  if (authorizations.is === 'found' && domain.is === 'found') {
    const { name, version } = domain.value;
    return { pay: authorizations.value, domain: { name, version } };
  }
  return permit2.is === 'missing' ? {} : { pay: 'permit2' };
}

/** The problems by which the loader would refuse a record, as sentences. */
export function recordProblems(record: unknown): string[] {
  const read = readRecord(record);
  return 'problems' in read ? read.problems.map(({ path, text }) => `${fieldName(path)} ${text}`) : [];
}
