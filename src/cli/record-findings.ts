import type { ExaminedNetwork, ExaminedToken } from '../chains/examined.ts';
import { FINALITY_TAGS, type KnownAsset, type Network } from '../chains/network.ts';
import type { Registry } from '../chains/registry.ts';

/** A difference between the record of a network and its chain, with its remedy. */
export interface RecordFinding {
  /**
   * True if payments, payouts or checks fail because of the difference. False for a remark: for example, payers see another name,
   * or could pay without an approval.
   */
  readonly isProblem: boolean;
  readonly text: string;
}

const problem = (text: string): RecordFinding => ({ isProblem: true, text });
const remark = (text: string): RecordFinding => ({ isProblem: false, text });

/**
 * The permitted factor between the recorded and the measured block time. If they differ by more, waiting for confirmations takes
 * a much shorter or longer time than intended.
 */
const BLOCK_TIME_FACTOR = 2;

/** Findings that `Chain.check` does not report, or reports without a remedy. */
export function networkFindings(registry: Registry, network: Network, examined: ExaminedNetwork): RecordFinding[] {
  const { chainId, assets } = network;
  const deploy = `\`till collector deploy --network ${chainId}\` deploys it`;
  const byPermit2 = [...assets.values()].filter(({ pay }) => pay?.method === 'permit2').map(({ symbol }) => symbol);
  return [
    ...(examined.collector.is === 'missing' ? [problem(`The Collector is missing: ${deploy}.`)] : []),
    ...(examined.depositContract.is === 'missing'
      ? [remark(`The contract of deposit addresses is missing, so payers cannot send from exchanges: ${deploy}.`)]
      : []),
    ...(examined.permit2.is === 'missing' && byPermit2.length > 0
      ? [
          problem(
            `Permit2 is missing, and ${byPermit2.join(', ')} need it. Deploy it at its usual address, or leave pay out of these tokens before payments name them.`,
          ),
        ]
      : []),
    ...blockTimeFindings(registry, network, examined),
    ...tagFindings(registry, network, examined),
  ];
}

function blockTimeFindings(registry: Registry, network: Network, { blockTime }: ExaminedNetwork): RecordFinding[] {
  // A network with `isTrustedAlone` runs on a node of the operator, which mines blocks at any pace.
  if (network.finality === undefined || network.isTrustedAlone) return [];
  if (blockTime.is !== 'found') return [];
  const { blockTimeMs } = network.finality;
  const measured = blockTime.value;
  const factor = Math.max(measured.blockTimeMs / blockTimeMs, blockTimeMs / measured.blockTimeMs);
  if (factor < BLOCK_TIME_FACTOR) return [];
  return [
    remark(
      `${registry.placeOf(network.chainId, 'blockTimeMs')} is ${blockTimeMs}, and a block takes ${measured.blockTimeMs} ms, measured over ${measured.blocks} blocks. Correct it, and look at finality.depth again: it counts blocks.`,
    ),
  ];
}

function tagFindings(registry: Registry, network: Network, { tags }: ExaminedNetwork): RecordFinding[] {
  if (network.finality === undefined || network.isTrustedAlone) return [];
  const place = registry.placeOf(network.chainId, 'finality');
  const known = network.finality.tags ?? [];
  return FINALITY_TAGS.flatMap((tag) => {
    const found = tags[tag];
    if (known.includes(tag)) {
      if (found.is === 'found') return [];
      if (found.is === 'unknown')
        return [remark(`Not found out: whether the node knows the tag ${tag}, because ${found.reason}.`)];
      return [
        problem(
          `${place} has the tag ${tag}, and the node does not know it. Use endpoints that do, or remove the tag and the tiers that ask for it.`,
        ),
      ];
    }
    return found.is === 'found'
      ? [remark(`The node knows the tag ${tag}, and ${place} does not have it. Add it to tags to use it in tiers.`)]
      : [];
  });
}

export function tokenFindings(
  registry: Registry,
  asset: KnownAsset,
  examined: ExaminedToken | { readonly problem: string },
): RecordFinding[] {
  if ('problem' in examined) return [problem(`${asset.symbol}: ${examined.problem}`)];
  return [
    ...wordFindings(registry, asset, examined),
    ...decimalFindings(registry, asset, examined),
    ...payFindings(registry, asset, examined),
    ...blacklistFindings(asset, examined),
  ];
}

function wordFindings(registry: Registry, { id, symbol, name }: KnownAsset, token: ExaminedToken): RecordFinding[] {
  const named = token.name.is === 'found' ? token.name.value : name;
  if (token.symbol === symbol && named === name) return [];
  return [
    remark(
      `${registry.placeOf(id, 'symbol')} is ${symbol}, with the name ${JSON.stringify(name)}. The contract calls itself ${JSON.stringify(token.symbol)}, with the name ${JSON.stringify(named)}. Payers see the words of the file: correct them, or leave them if they are meant.`,
    ),
  ];
}

/** Compares the decimals of tokens that cannot be used for payments. The decimals of payable tokens are compared at every start. */
function decimalFindings(registry: Registry, { id, decimals, pay }: KnownAsset, token: ExaminedToken): RecordFinding[] {
  if (pay !== undefined || token.decimals === decimals) return [];
  const place = registry.placeOf(id, 'decimals');
  return [
    problem(
      `${place} is ${decimals}, and the contract has ${token.decimals}. Correct it before payments name the token; \`till networks accept\` says whether any does.`,
    ),
  ];
}

function payFindings(registry: Registry, { id, symbol, pay }: KnownAsset, token: ExaminedToken): RecordFinding[] {
  const { authorizations, domain } = token;
  if (pay === undefined || pay.method === 'native' || authorizations.is === 'unknown') return [];
  const place = registry.placeOf(id, 'pay');
  if (pay.method === 'permit2') {
    if (authorizations.is === 'missing') return [];
    const words = domain.is === 'found' ? `, with the domain ${domainText(domain.value)}` : '';
    return [
      remark(
        `${place} is permit2, and ${symbol} has EIP-3009. Payers need no approval with "pay": "${authorizations.value}"${words}.`,
      ),
    ];
  }
  if (domain.is === 'found' && domainText(domain.value) !== domainText(pay.domain)) {
    return [
      problem(
        `${registry.placeOf(id, 'domain')} is ${domainText(pay.domain)}, and the contract of ${symbol} has ${domainText(domain.value)}. Signatures of payers fail: copy the domain of the contract.`,
      ),
    ];
  }
  if (authorizations.is === 'missing') {
    return [
      problem(
        `${place} is ${pay.method}, and the contract of ${symbol} took no such signature for a transfer of nothing. Payers can pay with "pay": "permit2", without domain.`,
      ),
    ];
  }
  if (authorizations.value === pay.method) return [];
  return pay.method === 'eip3009-vrs'
    ? [
        remark(
          `${place} is eip3009-vrs, and ${symbol} takes signatures as bytes, too. Contract accounts can pay with "pay": "eip3009-bytes".`,
        ),
      ]
    : [
        problem(
          `${place} is eip3009-bytes, and ${symbol} takes signatures as v, r, s alone. Write "pay": "eip3009-vrs".`,
        ),
      ];
}

function domainText({ name, version }: { readonly name: string; readonly version: string }): string {
  return JSON.stringify({ name, version });
}

function blacklistFindings({ symbol, blacklist }: KnownAsset, token: ExaminedToken): RecordFinding[] {
  if (token.blacklist.is === 'unknown') return [];
  const found = token.blacklist.is === 'found' ? token.blacklist.value : undefined;
  if (found === blacklist) return [];
  return [
    found === undefined
      ? remark(
          `The file has the blacklist ${blacklist} of ${symbol}, and the contract does not answer it. Leave blacklist out.`,
        )
      : remark(
          `${symbol} can blacklist accounts: ${found}(). Write "blacklist": "${found}", so that blacklisted payers are not offered it.`,
        ),
  ];
}
