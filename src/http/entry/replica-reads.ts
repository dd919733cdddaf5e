import { ApiError } from '../../errors.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { findWalPosition } from '../../store/events/wal-position.ts';
import type { Owner } from '../../store/parties/merchants.ts';
import { type Database, isStatementTimeout, type Reader } from '../../store/plumbing/database.ts';
import type { Replica } from '../../store/plumbing/replica.ts';
import type { ReplicaRefusal } from '../../store/plumbing/replica-place.ts';

/** Reads lists on the replica, and on the primary whenever the replica cannot answer. */
export interface ReplicaReads {
  /** Runs the work on the replica or on the primary. `onSource` receives the value of the header `Read-From`. */
  read<T>(owner: Owner, work: (db: Reader) => Promise<T>, onSource: (from: string) => void): Promise<T>;
}

export interface ReplicaReadsDeps {
  readonly listDb: Pick<Database, 'sql'>;
  readonly replica: Pick<Replica, 'read' | 'state'>;
  readonly metrics: Pick<Metrics, 'listReads'>;
}

type Reason = ReplicaRefusal | 'failed';

export function createReplicaReads({ listDb, replica, metrics }: ReplicaReadsDeps): ReplicaReads {
  /** Asks the replica. The `answer` is undefined if the replica has not answered, whatever the cause. */
  async function tryReplica<T>(owner: Owner, work: (db: Reader) => Promise<T>) {
    // If the replica certainly cannot answer, the primary is not even asked for its WAL position.
    const { refusal } = replica.state();
    if (refusal !== undefined && refusal !== 'behind') return { reason: refusal };
    try {
      const position = await findWalPosition(listDb.sql, owner);
      const answer = await replica.read(position, work);
      return answer.refusal === undefined ? { answer } : { reason: answer.refusal };
    } catch (error) {
      // A list that takes too long for the replica would take too long for the primary, too.
      if (error instanceof ApiError || isStatementTimeout(error)) throw error;
      return { reason: 'failed' as Reason };
    }
  }

  return {
    async read(owner, work, onSource) {
      const { answer, reason = '' } = await tryReplica(owner, work);
      metrics.listReads.inc({ from: answer === undefined ? 'primary' : 'replica', reason });
      if (answer === undefined) {
        onSource('primary');
        return work(listDb.sql);
      }
      onSource(`replica;lag=${Math.ceil(answer.lagMs)}`);
      return answer.value;
    },
  };
}
