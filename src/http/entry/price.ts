import { commonAssets } from '../../actions/parties/accepted-lists.ts';
import { unpayableReason } from '../../actions/paying/payable-assets.ts';
import { isTestNetwork } from '../../chains/registry.ts';
import type { Unit } from '../../chains/units.ts';
import { type AcceptedAssets, accepts, listsText } from '../../domain/accepted-assets.ts';
import { feeFloor, termsInForce } from '../../domain/fees.ts';
import type { Mode } from '../../domain/mode.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import type { HttpDeps } from '../deps.ts';

interface AskedAssets {
  readonly mode: Mode;
  readonly merchant: Pick<PayableMerchant, 'fees' | 'acceptedAssets' | 'partnerAccepted'>;
  readonly unit: Unit;
  /** The accepted assets of the payment or of its link, as a canonical list. */
  readonly own: { readonly of: 'payment' | 'link'; readonly accepted: AcceptedAssets };
  /** True if native coin may pay, which is the default. False for a link with a stock. */
  readonly takesCoin?: boolean;
}

export interface AskedPrice extends AskedAssets {
  readonly value: bigint;
  /** The name of the request's field with the price, for the message of a refusal. */
  readonly field: string;
}

/**
 * Refuses a price that no payment of the merchant can have: in a unit that nobody can pay, in a unit that nobody can pay with the
 * accepted assets, or below the fees. Returns the assets that the payment accepts.
 */
export function checkPrice(deps: HttpDeps, asked: AskedPrice): AcceptedAssets {
  const { mode, merchant, unit, value, field } = asked;
  if (mode === 'live' && unit.token !== undefined && isTestNetwork(deps.registry, unit.token.chainId)) {
    throw new ApiError('not_sandbox_api_key', `A live key cannot price in ${unit.id}, an asset of a test network.`);
  }
  const unpayable = unpayableReason(deps, { mode, unit });
  if (unpayable !== undefined) throw validationError([{ field: `${field}.unit`, message: unpayable }]);
  const accepted = acceptedFor(deps, asked);
  const { fees } = merchant;
  const floor = fees.length === 0 ? 1n : feeFloor(termsInForce(fees, deps.world.clock.nowMs()), unit.id);
  if (value >= floor) return accepted;
  const issues = [{ field: `${field}.value`, message: `must be at least ${floor} to cover fees` }];
  throw new ApiError('params_validation', `Validation error: Amount must be at least ${floor} to cover fees`, {
    issues,
  });
}

/**
 * The assets that a payment accepts: those in the lists of the partner, the merchant, and the payment or link. Throws if no asset
 * is in all lists, or if none of these assets can pay a price in this unit.
 */
export function acceptedFor(
  deps: HttpDeps,
  { mode, merchant, unit, own, takesCoin = true }: AskedAssets,
): AcceptedAssets {
  const lists = { partner: merchant.partnerAccepted, merchant: merchant.acceptedAssets, [own.of]: own.accepted };
  const accepted = commonAssets(lists);
  const refuse = (message: string) =>
    validationError([{ field: 'acceptedAssets', message: `${message}: ${listsText(lists)}` }]);
  // A price in a token can be paid with that token only.
  if (unit.token !== undefined && !accepts(accepted, unit.token.asset)) {
    throw refuse(`must include ${unit.token.asset}, the token of the price`);
  }
  if (accepted === null || unpayableReason(deps, { mode, unit, accepted, takesCoin }) === undefined) return accepted;
  throw refuse(
    takesCoin
      ? `has no asset that ${unit.symbol} can be paid with, at par or by a rate`
      : `has no token that ${unit.symbol} can be paid with, at par or by a rate; a link with a stock takes no coin`,
  );
}
