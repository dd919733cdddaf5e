import { unpayableReason } from '../../actions/paying/payable-assets.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { parseUnit } from '../../chains/units.ts';
import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import { type Currency, listCurrencies, type PayableCurrency } from '../../domain/currency.ts';
import { MODES, type Mode } from '../../domain/mode.ts';
import type { HttpDeps } from '../deps.ts';

/** The currencies that are offered first. */
const FIRST = ['USD', 'EUR'];

/**
 * The currencies that can be paid in at least one mode with connected networks, for pages that let people choose one. Each has
 * the modes whose payments accept it. A mode without networks accepts every currency. The decimals are included, because browsers
 * have other decimals for some currencies. A merchant may accept too few assets for a currency: `currenciesPaidWith` takes
 * account of that.
 */
export function payableCurrencies(deps: HttpDeps): PayableCurrency[] {
  const served = MODES.filter((mode) => servedNetworks(deps, mode).length > 0);
  const decisive = served.length === 0 ? MODES : served;
  return inOrder(listCurrencies()).flatMap(({ code, decimals }) => {
    const modes = MODES.filter((mode) => isPayable(deps, code, { mode, accepted: null }));
    return decisive.some((mode) => modes.includes(mode)) ? [{ code, decimals, modes }] : [];
  });
}

/** The currencies of prices that payments of this mode can have if they accept only these assets. */
export function currenciesPaidWith(deps: HttpDeps, of: AcceptedIn): Pick<Currency, 'code' | 'decimals'>[] {
  const payable = listCurrencies().filter(({ code }) => isPayable(deps, code, of));
  return inOrder(payable).map(({ code, decimals }) => ({ code, decimals }));
}

interface AcceptedIn {
  readonly mode: Mode;
  readonly accepted: AcceptedAssets;
}

function isPayable(deps: HttpDeps, code: string, { mode, accepted }: AcceptedIn): boolean {
  const unit = parseUnit(deps.registry, `iso4217/${code}`);
  return unit.ok && unpayableReason(deps, { mode, unit: unit.value, accepted }) === undefined;
}

function inOrder(currencies: readonly Currency[]): Currency[] {
  const rank = (code: string) => (FIRST.includes(code) ? FIRST.indexOf(code) : FIRST.length);
  return currencies.toSorted((a, b) => rank(a.code) - rank(b.code) || (a.code < b.code ? -1 : 1));
}
