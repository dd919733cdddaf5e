import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { acceptedIdProblem, modeOfAccepted, parseAcceptedId } from '../../chains/accepted-entry.ts';
import { type AcceptedAssets, canonicalList } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';

/** The accepted assets of a request, in canonical form. The schema has already checked the form of each entry. */
export function canonicalAccepted(given: readonly string[] | null | undefined): AcceptedAssets {
  if (given === undefined || given === null) return null;
  const ids = given.map((text) => {
    const id = parseAcceptedId(text);
    if (!id.ok) throw new Error(`The schema accepted an entry that ${id.problem}.`);
    return id.value;
  });
  return canonicalList(ids);
}

/** Refuses accepted assets with which no payment of the mode could be paid. */
export function checkAccepted(deps: HttpDeps, mode: Mode, given: readonly string[] | null | undefined): void {
  if (given === undefined || given === null) return;
  const ids = given.map((text) => canonicalAccepted([text])?.[0] ?? '');
  const test = ids.find((id) => mode === 'live' && modeOfAccepted(deps.registry, id) === 'test');
  if (test !== undefined) {
    throw new ApiError('not_sandbox_api_key', `A live key cannot accept ${test}, which is on a test network.`);
  }
  const served = servedNetworks(deps, mode).map(({ chain }) => chain.network.chainId);
  const issues = ids.flatMap((id, index) => {
    const message = acceptedIdProblem(deps.registry, id, { mode, served });
    return message === undefined ? [] : [{ field: `acceptedAssets[${index}]`, message }];
  });
  if (issues.length > 0) throw validationError(issues);
}
