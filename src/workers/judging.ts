import { knowsNewestSecret, type SecretDeps } from '../actions/open-receipt-key.ts';
import type { Job } from './loop.ts';

/**
 * The jobs, which run only while this node knows the newest master secret. Without it, every row that was written since the rotation
 * looks forged, and its alert would tell the operator to look for an intruder. The readiness check reports the missing secret.
 */
export function judging({ db, secrets }: Pick<SecretDeps, 'db' | 'secrets'>, jobs: readonly Job[]): readonly Job[] {
  return jobs.map((job) => ({
    ...job,
    run: async () => (await knowsNewestSecret(db.sql, secrets)) && (await job.run()),
  }));
}
