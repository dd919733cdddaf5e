import { knowsNewestSecret, type SecretDeps } from '../actions/open-receipt-key.ts';
import type { Job } from './loop.ts';

/**
 * Restricts jobs to the time in which this node knows the newest master secret. Without that secret, every row that was written since
 * its rotation looks forged, and its alert would tell the operator to look for an intruder. The readiness check reports the missing secret.
 */
export function judging({ db, secrets }: Pick<SecretDeps, 'db' | 'secrets'>, jobs: readonly Job[]): readonly Job[] {
  return jobs.map((job) => ({
    ...job,
    run: async () => (await knowsNewestSecret(db.sql, secrets)) && (await job.run()),
  }));
}
