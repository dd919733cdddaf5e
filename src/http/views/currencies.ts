import { unpayableReason } from '../../actions/paying/payable-assets.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { parseUnit } from '../../chains/units.ts';
import { listCurrencies, type PayableCurrency } from '../../domain/currency.ts';
import { MODES } from '../../domain/mode.ts';
import type { HttpDeps } from '../deps.ts';

/** The currencies that are offered first. */
const FIRST = ['USD', 'EUR'];

/**
 * The currencies for pages on which people choose one: those that can be paid in at least one mode with networks. Each currency has
 * the modes whose payments take it. A mode without networks takes every currency. The decimals are included, because browsers have
 * other decimals for some currencies.
 */
export function payableCurrencies(deps: HttpDeps): PayableCurrency[] {
  const served = MODES.filter((mode) => servedNetworks(deps, mode).length > 0);
  const decisive = served.length === 0 ? MODES : served;
  const payable = listCurrencies().flatMap(({ code, decimals }) => {
    const unit = parseUnit(deps.registry, `iso4217/${code}`);
    if (!unit.ok) return [];
    const modes = MODES.filter((mode) => unpayableReason(deps, { mode, unit: unit.value }) === undefined);
    return decisive.some((mode) => modes.includes(mode)) ? [{ code, decimals, modes }] : [];
  });
  const rank = (code: string) => (FIRST.includes(code) ? FIRST.indexOf(code) : FIRST.length);
  return payable.sort((a, b) => rank(a.code) - rank(b.code) || (a.code < b.code ? -1 : 1));
}
