/**
 * The assets that payers may pay with: CAIP-19 ids, and CAIP-2 ids for all assets of a network, including assets that the gateway
 * adds later. Null means no limit. A stored list is never empty, because then nobody could pay.
 */
export type AcceptedAssets = readonly string[] | null;

/** The limit of entries in one list. */
export const MAX_ACCEPTED_ASSETS = 100;

/** True if the list accepts `id`, an asset or a network. A network is accepted only if the list names the network itself. */
export function accepts(list: AcceptedAssets, id: string): boolean {
  return list === null || list.includes(id) || list.includes(networkIn(id));
}

/** True if an asset of the network is accepted. */
export function acceptsOn(list: AcceptedAssets, network: string): boolean {
  return list === null || list.some((id) => networkIn(id) === network);
}

/**
 * The canonical form of a list: sorted, without repetitions, and without assets of networks that the list names. Lists with the
 * same meaning have the same form.
 */
export function canonicalList(ids: readonly string[]): readonly string[] {
  const networks = new Set(ids.filter((id) => networkIn(id) === id));
  return [...new Set(ids)].filter((id) => networks.has(id) || !networks.has(networkIn(id))).sort();
}

/** The assets that every list accepts. An empty result means that the lists have nothing in common. */
export function acceptedByAll(lists: readonly AcceptedAssets[]): AcceptedAssets {
  return lists.reduce<AcceptedAssets>((common, list) => {
    if (common === null || list === null) return common ?? list;
    return canonicalList([...common.filter((id) => accepts(list, id)), ...list.filter((id) => accepts(common, id))]);
  }, null);
}

const SHOWN = 5;

/** The lists as text, for an error message: `the partner accepts A, B; the merchant accepts C`. Lists without a limit are left out. */
export function listsText(lists: Readonly<Record<string, AcceptedAssets>>): string {
  return Object.entries(lists)
    .flatMap(([owner, list]) => (list === null ? [] : [`the ${owner} accepts ${namesText(list)}`]))
    .join('; ');
}

function namesText(list: readonly string[]): string {
  const more = list.length - SHOWN;
  return `${list.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function networkIn(id: string): string {
  const [network = id] = id.split('/');
  return network;
}
