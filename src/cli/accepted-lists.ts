import { acceptedIdProblem, modeOfAccepted } from '../chains/accepted-entry.ts';
import { assetsOf } from '../chains/registry.ts';
import { canonicalList, MAX_ACCEPTED_ASSETS } from '../domain/accepted-assets.ts';
import type { Mode } from '../domain/mode.ts';
import { type Issue, validationError } from '../errors.ts';
import { knownNetworks } from './chains.ts';
import type { Context } from './connect.ts';
import { type Kind, Problem } from './kinds.ts';
import { knownAsset } from './money-kinds.ts';
import { repeated } from './options.ts';

/** An entry of a list of accepted assets: an asset as `knownAsset` parses it, or a network, which stands for all its assets. */
const acceptedAsset: Kind<string> = {
  placeholder: 'asset|network',
  parse: (raw, nowMs, registry) => {
    if (raw.includes('/')) return knownAsset.parse(raw, nowMs, registry);
    return assetsOf(registry, raw).length > 0 ? raw : new Problem('must be an asset, or a network such as eip155:8453');
  },
};

export const accept = repeated(
  acceptedAsset,
  MAX_ACCEPTED_ASSETS,
  'Asset that pays new payments, or a network for all its assets. Replaces the earlier list.',
);

/** The list of accepted assets in canonical form. Throws if an entry cannot be used for payments of the mode. */
export async function acceptedIn(context: Context, mode: Mode, ids: readonly string[]): Promise<readonly string[]> {
  const networks = await knownNetworks(context);
  const served = networks.filter(({ network }) => network.mode === mode).map(({ network }) => network.chainId);
  const issues: Issue[] = ids.flatMap((id) => {
    const problem = acceptedIdProblem(context.config.registry, id, { mode, served });
    return problem === undefined ? [] : [{ field: '--accept', message: `${id} ${problem}` }];
  });
  if (issues.length > 0) throw validationError(issues);
  return canonicalList(ids);
}

/** Splits accepted assets by the mode of their networks: every network is either live or test. A mode without entries is left out. */
export async function acceptedByMode(
  context: Context,
  ids: readonly string[],
): Promise<Partial<Record<Mode, readonly string[]>>> {
  const byMode = Map.groupBy(ids, (id) => modeOfAccepted(context.config.registry, id) ?? 'live');
  const lists = await Promise.all([...byMode].map(async ([mode, own]) => [mode, await acceptedIn(context, mode, own)]));
  return Object.fromEntries(lists);
}
