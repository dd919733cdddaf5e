import type { Log } from '../../runtime/world.ts';
import type { ListIdentity, Screening } from '../../screening/screening.ts';
import { raiseAlert } from '../alerts.ts';
import type { CommandDeps } from '../command.ts';

type AlertDeps = CommandDeps & { readonly log: Log };

/**
 * Screens the payer of an arrived payment against the present list, which may be newer than the list at acceptance. A paid payment
 * stays paid: a hit raises an alert, and the result goes into the evidence of the move. The screening runs before that move, so
 * that a crash in between loses nothing.
 */
export async function screenPaid(
  deps: AlertDeps & { readonly screening: Screening },
  { paymentId, account }: { readonly paymentId: string; readonly account: string },
): Promise<{ readonly screenedPayer?: ListIdentity }> {
  const { hits, list } = deps.screening.decide([account]);
  if (list === null || hits.length === 0) return {};
  await alertOfScreenedPayer(deps, { paymentId, list });
  return { screenedPayer: list };
}

/** Raises the alert about a listed payer whose payment can no longer be stopped. The alert stays until a person clears it. */
export async function alertOfScreenedPayer(
  deps: AlertDeps,
  { paymentId, list }: { readonly paymentId: string; readonly list: ListIdentity },
): Promise<void> {
  await raiseAlert(deps, {
    name: 'screened_payer',
    subject: paymentId,
    message: `Its payer is on the screening list ${list.version} of ${list.date}, and was found too late to decline it.`,
  });
}
