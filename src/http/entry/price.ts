import { unpayableReason } from '../../actions/paying/payable-assets.ts';
import { isTestNetwork } from '../../chains/networks.ts';
import type { Unit } from '../../chains/units.ts';
import { feeFloor, termsInForce } from '../../domain/fees.ts';
import type { Mode } from '../../domain/mode.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import type { HttpDeps } from '../deps.ts';

export interface AskedPrice {
  readonly mode: Mode;
  readonly merchant: Pick<PayableMerchant, 'fees'>;
  readonly unit: Unit;
  readonly value: bigint;
  /** The field of the request that contains `unit` and `value`. */
  readonly field: string;
}

/** Refuses a price that no payment of the merchant can have: in a unit that nobody can pay, or below the fees. */
export function checkPrice(deps: HttpDeps, { mode, merchant, unit, value, field }: AskedPrice): void {
  if (mode === 'live' && unit.token !== undefined && isTestNetwork(unit.token.chainId)) {
    throw new ApiError('not_sandbox_api_key', `A live key cannot price in ${unit.id}, an asset of a test network.`);
  }
  const unpayable = unpayableReason(deps, { mode, unit });
  if (unpayable !== undefined) throw validationError([{ field: `${field}.unit`, message: unpayable }]);
  const { fees } = merchant;
  const floor = fees.length === 0 ? 1n : feeFloor(termsInForce(fees, deps.world.clock.nowMs()), unit.id);
  if (value >= floor) return;
  const issues = [{ field: `${field}.value`, message: `must be at least ${floor} to cover fees` }];
  throw new ApiError('params_validation', `Validation error: Amount must be at least ${floor} to cover fees`, {
    issues,
  });
}
