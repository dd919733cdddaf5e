import { unpayableReason } from '../../actions/paying/payable-assets.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { parseUnit } from '../../chains/units.ts';
import { type Currency, listCurrencies } from '../../domain/currency.ts';
import { MODES, type Mode } from '../../domain/mode.ts';
import type { HttpDeps } from '../deps.ts';

/** A currency, and the modes whose payments take it. */
type PayableCurrency = Pick<Currency, 'code' | 'decimals'> & { readonly modes: readonly Mode[] };

/** The currencies that are offered first. */
const FIRST = ['USD', 'EUR'];

/**
 * The currencies that can be paid in some mode with networks, for pages that let people choose one. Each has the modes whose payments
 * take it: a mode without networks takes every currency. The decimals are included, because browsers have other decimals for some
 * currencies.
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
