import type { Diagnosis } from '../../../domain/doctor/diagnosis.ts';
import type { Clock } from '../../../runtime/world.ts';

/**
 * The time for which a result is shared. An examination asks every endpoint, the public URL and the catalogues of the database: too much
 * for each reload of a page.
 */
const KEPT_MS = 20_000;

export interface Examination extends Diagnosis {
  readonly endedAt: Date;
}

export interface ShareExaminationDeps {
  readonly clock: Clock;
  readonly examine: () => Promise<Diagnosis>;
}

/**
 * Runs one examination at a time. Callers share the running examination, or a result of the last seconds. The error of a failed
 * examination goes only to the callers who waited for it.
 */
export function shareExamination({ clock, examine }: ShareExaminationDeps): () => Promise<Examination> {
  let running: Promise<Examination> | undefined;
  let last: Examination | undefined;

  async function run(): Promise<Examination> {
    try {
      last = { ...(await examine()), endedAt: new Date(clock.nowMs()) };
      return last;
    } finally {
      running = undefined;
    }
  }

  return () => {
    const ageMs = last === undefined ? Number.POSITIVE_INFINITY : clock.nowMs() - last.endedAt.getTime();
    // A clock that was set back must not keep an old examination.
    if (last !== undefined && ageMs >= 0 && ageMs < KEPT_MS) return Promise.resolve(last);
    running ??= run();
    return running;
  };
}
