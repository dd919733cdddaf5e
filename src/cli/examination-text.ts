import type { ExaminedNetwork, ExaminedToken, Found } from '../chains/examined.ts';
import type { NetworkFile, TokenFile } from '../chains/records/network-schema.ts';

/** The functions of this file turn the findings of `networks add` and `tokens add` into sentences for people. */

export function networkSentences(examined: ExaminedNetwork, record: NetworkFile): string[] {
  const { chainId, head, blockTime, tags } = examined;
  return [
    `${chainId} answers: its head is block ${head}.`,
    blockTime.is === 'found'
      ? `A block takes ${blockTime.value.blockTimeMs} ms, measured over ${blockTime.value.blocks} blocks. Payments succeed at depth ${record.finality?.depth}, large ones at ${record.finality?.tiers?.[0]?.depth}: cautious defaults. Change finality where you know the network better.`
      : `Not found out: the time of a block, because ${reasonOf(blockTime)}. The file has no finality, so the network takes no payments: add blockTimeMs and finality.`,
    tagSentence('safe', tags.safe),
    tagSentence('finalized', tags.finalized),
    contractSentence('The Collector', examined.collector, 'so nothing can be paid yet', chainId),
    contractSentence(
      'The contract of deposit addresses',
      examined.depositContract,
      'so payers cannot send from exchanges yet',
      chainId,
    ),
    permit2Sentence(examined.permit2),
    `Not found out: the name of the coin. The file says ${record.coin.symbol}, and SLIP-44 number ${record.coin.slip44}; correct both before a node uses the network, because the database remembers them. The coin pays for gas alone until the file has its pay and quoteDecimals.`,
  ];
}

function tagSentence(tag: string, found: Found<true>): string {
  if (found.is === 'found') return `The node answers for the tag ${tag}.`;
  if (found.is === 'missing') return `The node does not know the tag ${tag}.`;
  return `Not found out: whether the tag ${tag} is known, because ${found.reason}. The file does not have it.`;
}

function contractSentence(contract: string, found: Found<string>, consequence: string, chainId: string): string {
  const way = `\`till collector deploy --network ${chainId}\` deploys it`;
  if (found.is === 'found') return `${contract} is at ${found.value}.`;
  if (found.is === 'missing') return `${contract} is not deployed, ${consequence}: ${way}.`;
  return `Not found out: whether ${lowerFirst(contract)} is deployed, because ${found.reason}. ${way}, if it is missing.`;
}

function permit2Sentence(found: Found<true>): string {
  if (found.is === 'found') return 'Permit2 is deployed: payers can pay with any token after one approval.';
  if (found.is === 'missing') return 'Permit2 is not deployed, so only tokens with EIP-3009 can be paid with.';
  return `Not found out: whether Permit2 is deployed, because ${found.reason}. A gateway offers it only where it is.`;
}

export function tokenSentences(token: ExaminedToken, entry: TokenFile): string[] {
  const { symbol, address, decimals, name, domain, authorizations, blacklist } = token;
  const about = (text: string) => `${symbol}: ${text}`;
  return [
    about(`${JSON.stringify(entry.name)}, ${decimals} decimals, at ${address}.`),
    ...(name.is === 'unknown' ? [about(`not found out: its name, because ${name.reason}.`)] : []),
    about(authorizationText(authorizations, domain)),
    about(payText(entry, authorizations)),
    entry.peg === undefined
      ? about(
          `no contract tells whether a token is worth a currency. The file says that it needs a rate. Add ${address}=USD to --token instead, or "peg": "USD" to the file, if it is pegged.`,
        )
      : about(`is taken as pegged to ${entry.peg}, because you say so.`),
    ...(blacklist.is === 'found' ? [about(`can blacklist accounts: ${blacklist.value}().`)] : []),
    ...(blacklist.is === 'unknown' ? [about(`not found out: its blacklist, because ${blacklist.reason}.`)] : []),
  ];
}

function authorizationText(found: ExaminedToken['authorizations'], domain: ExaminedToken['domain']): string {
  if (found.is === 'missing') return 'has no EIP-3009.';
  if (found.is === 'unknown') {
    return `not found out: whether payers can sign by EIP-3009, because ${found.reason}. The file does not offer it.`;
  }
  const form = found.value === 'eip3009-bytes' ? 'bytes' : 'v, r, s';
  const how = domain.is === 'found' && domain.value.by === 'eip5267' ? 'EIP-5267' : 'DOMAIN_SEPARATOR()';
  const shown =
    domain.is === 'found'
      ? `${JSON.stringify(domain.value.name)} and version ${JSON.stringify(domain.value.version)}`
      : 'unknown';
  return `has EIP-3009, with signatures as ${form}. It accepted one of ours, for nothing, with the EIP-712 name ${shown}, found by ${how}.`;
}

function payText({ pay }: TokenFile, authorizations: ExaminedToken['authorizations']): string {
  if (pay === 'eip3009-bytes') return 'payers pay with one signature and without gas; contract accounts can, too.';
  if (pay === 'eip3009-vrs') return 'payers pay with one signature and without gas; contract accounts cannot.';
  if (pay === 'permit2') {
    return 'payers pay with one signature after a one-time approval, which costs gas. If the token refuses to change an allowance that is not zero, add "approvesThroughZero": true.';
  }
  return authorizations.is === 'unknown'
    ? 'payers cannot pay with it by this file.'
    : 'payers cannot pay with it: it is a price and a destination only. Where Permit2 is deployed later, add "pay": "permit2".';
}

function reasonOf(found: Found<unknown>): string {
  return found.is === 'unknown' ? found.reason : 'the chain has none';
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
