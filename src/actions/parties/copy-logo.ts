import { type FetchImage, ImageError } from '../../logos/fetch-image.ts';
import type { Log } from '../../runtime/world.ts';
import { type DueLogo, failLogo, storeLogo, takeDueLogos } from '../../store/parties/logos.ts';
import { type CommandDeps, command } from '../command.ts';

export interface CopyLogosDeps extends CommandDeps {
  readonly log: Log;
  readonly fetchImage: FetchImage;
}

/** The number of logos that one round copies. Each download takes at most five seconds and two megabytes. */
const AT_ONCE = 4;
/** The time for which a round leases its logos. It is longer than an attempt can take. */
const LEASE_MS = 60_000;
/** The waits before the second and the third attempt. If the third attempt fails, the merchant has to set the URL again. */
const RETRY_AFTER_MS = [60_000, 15 * 60_000];

/** Copies a few due logos. Returns true if there may be more. */
export async function copyLogos(deps: CopyLogosDeps): Promise<boolean> {
  const due = await command(deps, (tx, now) =>
    takeDueLogos(tx, { now, leasedUntil: new Date(now.getTime() + LEASE_MS), limit: AT_ONCE }),
  );
  await Promise.all(due.map((logo) => copyLogo(deps, logo)));
  return due.length === AT_ONCE;
}

async function copyLogo(deps: CopyLogosDeps, due: DueLogo): Promise<void> {
  try {
    const picture = await deps.fetchImage(due.url);
    await command(deps, (tx, at) => storeLogo(tx, due, { ...picture, at }));
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    const waitMs = error.isPassing ? RETRY_AFTER_MS[due.attempts - 1] : undefined;
    deps.log.info({ merchant: due.merchantId, problem: error.message }, 'a logo could not be copied');
    await command(deps, (tx, now) =>
      failLogo(tx, due, {
        problem: error.message,
        dueAt: waitMs === undefined ? null : new Date(now.getTime() + waitMs),
      }),
    );
  }
}
