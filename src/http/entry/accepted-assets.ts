import { Type } from 'typebox';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { acceptedIdProblem, modeOfAccepted, parseAcceptedId } from '../../chains/accepted-entry.ts';
import { type AcceptedAssets, canonicalList, MAX_ACCEPTED_ASSETS } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';

/** The list of a request in canonical form. The schema has checked the form of each entry. */
export function canonicalAccepted(given: readonly string[] | null | undefined): AcceptedAssets {
  if (given === undefined || given === null) return null;
  const ids = given.map((text) => {
    const id = parseAcceptedId(text);
    if (!id.ok) throw new Error(`The schema accepted an entry that ${id.problem}.`);
    return id.value;
  });
  return canonicalList(ids);
}

/** Refuses entries that no payment of the mode could be paid with. */
export function checkAccepted(deps: HttpDeps, mode: Mode, given: readonly string[] | null | undefined): void {
  const ids = (given ?? []).map((text) => canonicalAccepted([text])?.[0] ?? '');
  const test = ids.find((id) => mode === 'live' && modeOfAccepted(id) === 'test');
  if (test !== undefined) {
    throw new ApiError('not_sandbox_api_key', `A live key cannot accept ${test}, which is on a test network.`);
  }
  const served = servedNetworks(deps, mode).map(({ chain }) => chain.network.chainId);
  const issues = ids.flatMap((id, index) => {
    const message = acceptedIdProblem(id, { mode, served });
    return message === undefined ? [] : [{ field: `acceptedAssets[${index}]`, message }];
  });
  if (issues.length > 0) throw validationError(issues);
}

/** The description says what the list is of. */
export function acceptedAssetsField(description: string) {
  return Type.Unsafe<string[] | null>({
    title: 'AcceptedAssets',
    type: ['array', 'null'],
    items: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      'x-form': 'accepted-asset',
    },
    minItems: 1,
    maxItems: MAX_ACCEPTED_ASSETS,
    'x-rule': 'must name at least one asset or network; null is no limit',
    description: `${description} CAIP-19 ids of assets, and CAIP-2 ids for all assets of a network. Null: no limit.`,
    examples: [['eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913']],
  });
}
