import { unpayableReason } from '../../actions/paying/payable-assets.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { parseUnit } from '../../chains/units.ts';
import { type Currency, listCurrencies } from '../../domain/currency.ts';
import { MODES } from '../../domain/mode.ts';
import type { HttpDeps } from '../deps.ts';

/** The currencies that are offered first. */
const FIRST = ['USD', 'EUR'];

/**
 * The currencies that can be paid in some mode with networks, for pages that let people choose one. The decimals are included,
 * because browsers have other decimals for some currencies.
 */
export function payableCurrencies(deps: HttpDeps): Pick<Currency, 'code' | 'decimals'>[] {
  const served = MODES.filter((mode) => servedNetworks(deps, mode).length > 0);
  const modes = served.length === 0 ? MODES : served;
  const payable = listCurrencies().filter(({ code }) => {
    const unit = parseUnit(deps.registry, `iso4217/${code}`);
    return unit.ok && modes.some((mode) => unpayableReason(deps, { mode, unit: unit.value }) === undefined);
  });
  const rank = (code: string) => (FIRST.includes(code) ? FIRST.indexOf(code) : FIRST.length);
  return payable
    .map(({ code, decimals }) => ({ code, decimals }))
    .sort((a, b) => rank(a.code) - rank(b.code) || (a.code < b.code ? -1 : 1));
}
