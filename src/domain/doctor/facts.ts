/** The answer to a question, or the reason why it is unknown. An unknown answer is never taken for a good one. */
export type Asked<T> = { readonly known: T } | { readonly unknown: string };

/** The facts of all checks of the doctor, by check. */
export interface DoctorFacts {
  readonly program: ProgramFacts;
  readonly settings: SettingsFacts;
  readonly database: DatabaseFacts | DatabaseOutage;
  /** The facts about the read replica. Null without `READ_DATABASE_URL`. */
  readonly replica: ReplicaFacts | ReplicaOutage | null;
  readonly schema: SchemaFacts;
  readonly secret: SecretFacts;
  readonly nodes: NodeFacts;
  readonly leases: readonly LeaseFacts[];
  readonly clocks: ClockFacts;
  readonly networks: readonly NetworkFacts[];
  readonly accounts: readonly AccountFacts[];
  readonly alerts: readonly AlertFacts[];
  readonly webhooks: readonly WebhookFacts[];
  readonly disk: readonly DiskFacts[];
  readonly publicUrl: PublicUrlFacts | null;
  readonly certificates: readonly CertificateFacts[];
}

export type CheckName = keyof DoctorFacts;

/** The facts of each check, or the reason why the check could not be made. */
export type Gathered = { readonly [Name in CheckName]: Asked<DoctorFacts[Name]> };

export interface ProgramFacts {
  readonly version: string;
  readonly node: string;
  readonly host: string;
  readonly system: string;
}

export interface SettingsFacts {
  /** The settings that differ from their defaults, with secrets struck out. */
  readonly changed: readonly { readonly setting: string; readonly value: string }[];
  /** Reasons for which a node refuses to start with these settings, in sentences. */
  readonly refusals: readonly string[];
  /** Risks that do not keep a node from starting, in sentences. */
  readonly risks: readonly string[];
}

/** The reason why the database is out of reach. */
export interface DatabaseOutage {
  readonly outage: string;
}

export interface DatabaseFacts {
  readonly server: Asked<ServerState>;
  readonly oldestTransaction: Asked<OldTransaction | null>;
  readonly tables: Asked<readonly TableState[]>;
  readonly parts: Asked<SchemaParts>;
  /** The slowest statements. Null without the extension `pg_stat_statements`. */
  readonly slow: Asked<readonly SlowStatement[] | null>;
  readonly replication: Asked<Replication>;
  readonly nowMs: number;
}

/** The server and the database, as far as the role may see them. */
export interface ServerState {
  readonly version: string;
  /** The version as a number: 150004 for 15.4. */
  readonly versionNumber: number;
  readonly role: string;
  readonly isSuperuser: boolean;
  readonly isStandby: boolean;
  readonly startedAt: Date;
  readonly sizeBytes: number;
  /** The number of client connections to the whole server. `maxConnections` is the most that a role without special rights can open. */
  readonly connections: number;
  readonly maxConnections: number;
  /** The age of the oldest row in transaction ids. At two thousand million, PostgreSQL stops accepting writes. */
  readonly transactionAge: number;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  readonly archiveMode: string;
  readonly synchronousStandbys: string;
  /** The data directory of the server. Null if the role may not see it. */
  readonly dataDirectory: string | null;
  /** True if the role sees the transactions of all connections, and not only those of its own. */
  readonly seesAll: boolean;
}

export interface OldTransaction {
  readonly application: string;
  /** The state of the connection, such as `active` or `idle in transaction`. */
  readonly state: string;
  readonly since: Date;
}

export interface TableState {
  readonly table: string;
  readonly sizeBytes: number;
  /** The numbers of live and dead rows, as the statistics collector estimates them. */
  readonly liveRows: number;
  readonly deadRows: number;
  readonly vacuumedAt: Date | null;
}

export interface SchemaParts {
  readonly extensions: readonly { readonly name: string; readonly version: string }[];
  /** Indexes whose concurrent build was interrupted: they cost writes and serve no read. */
  readonly invalidIndexes: readonly string[];
}

export interface SlowStatement {
  /** The first part of the statement. Its values are replaced by `$1`, `$2` … */
  readonly text: string;
  readonly calls: number;
  readonly meanMs: number;
  readonly totalMs: number;
}

export interface Replication {
  readonly standbys: readonly Standby[];
  readonly slots: readonly ReplicationSlot[];
  /** The last failure of the archiver, if it is later than its last success. */
  readonly archiveFailedAt: Date | null;
}

export interface Standby {
  readonly name: string;
  /** The state of the standby, such as `streaming`. Null if the role may not see it. */
  readonly state: string | null;
  /** The mode of replication: `async`, `sync` or `quorum`. Null if the role may not see it. */
  readonly sync: string | null;
  readonly lagBytes: number | null;
}

export interface ReplicationSlot {
  readonly name: string;
  readonly isActive: boolean;
  /** The size of the write-ahead log that the server keeps for the slot. */
  readonly keptBytes: number | null;
}

/** The streaming replica that the gateway reads lists from. */
export interface ReplicaFacts {
  readonly version: string;
  readonly role: string;
  /**
   * The state of the replica. `not_a_replica`: it accepts writes, or has another database. `other_timeline`: it followed a former
   * primary.
   */
  readonly standing: 'follows' | 'behind' | 'not_a_replica' | 'other_timeline';
  /**
   * The time that the replica needed to reach the primary's position in the write-ahead log at the time of the question. Null if
   * the replica did not reach that position.
   */
  readonly lagMs: number | null;
  readonly behindBytes: number;
  readonly maxLagMs: number;
}

/** The reason why the replica is out of reach. */
export interface ReplicaOutage {
  readonly outage: string;
}

export interface SchemaFacts {
  readonly applied: readonly string[];
  readonly missing: readonly string[];
  /** The reason why this version cannot use the database at all. */
  readonly mismatch: string | null;
}

export interface SecretFacts {
  /** True if the master secret in the settings of this machine opens the secrets of the database. Null before the first start. */
  readonly opens: Asked<boolean | null>;
  /**
   * The nodes that run. `knowsNewest`: whether the node has the newest master secret. Null for a node of an older version, which
   * does not report this.
   */
  readonly nodes: readonly { readonly host: string; readonly id: string; readonly knowsNewest: boolean | null }[];
}

export interface NodeFacts {
  readonly nodes: readonly {
    readonly host: string;
    readonly roles: readonly string[];
    readonly startedAt: Date;
    readonly seenAt: Date;
    readonly isUp: boolean;
  }[];
  /** The roles of gateway nodes, such as `relay`, that no running node has. */
  readonly missingRoles: readonly string[];
}

export interface LeaseFacts {
  readonly name: string;
  /** A description of the lease's work. Null for a network that is not in the settings of this machine. */
  readonly work: string | null;
  readonly isHeld: boolean;
  readonly holder: string;
  readonly since: Date | null;
}

export interface ClockFacts {
  /** Milliseconds by which this machine is ahead of the database. */
  readonly machineOffMs: Asked<number>;
  /**
   * For each network, the milliseconds by which its newest block is ahead of the database's clock. If that clock is unknown, this
   * machine's clock is used.
   */
  readonly heads: readonly { readonly name: string; readonly aheadMs: number }[];
}

export interface NetworkFacts {
  readonly network: string;
  readonly name: string;
  readonly blockTimeMs: number;
  /** True for a sandbox's chain, whose time can be moved. */
  readonly isSandbox: boolean;
  readonly endpoints: readonly EndpointFacts[];
  /** The last block that a watcher has read. Null if it is unknown. */
  readonly readTo: number | null;
}

export interface EndpointFacts {
  /** The number of the endpoint in the configuration, from 1. */
  readonly endpoint: number;
  readonly isUp: boolean;
  readonly head: number | null;
  /** The age of the endpoint's newest block. */
  readonly headAgeMs: number | null;
  readonly latencyMs: number | null;
  readonly problems: readonly string[];
}

export interface AccountFacts {
  readonly network: string;
  readonly address: string;
  readonly kind: 'relayer' | 'former relayer' | 'intermediate account';
  /** The native coin of the account, in its smallest unit. Null if the chain cannot be asked. */
  readonly balance: bigint | null;
  readonly minBalance: bigint | null;
  /** The coin that was spent on gas in the last day. */
  readonly spentPerDay: bigint;
  readonly inFlight: number | null;
}

export interface AlertFacts {
  readonly name: string;
  readonly subject: string;
  readonly message: string;
  readonly since: Date;
  readonly runbook: string;
}

export interface WebhookFacts {
  readonly id: string;
  readonly partnerId: string;
  readonly mode: string;
  /** The origin of the endpoint's URL: the rest of the URL may contain a secret of the partner. */
  readonly origin: string;
  readonly status: string;
  readonly failingSince: Date | null;
  readonly waiting: number;
  readonly problem: string | null;
}

export interface DiskFacts {
  readonly what: string;
  readonly space: Asked<{ readonly freeBytes: number; readonly totalBytes: number }>;
}

/** The facts about the public URL. They are null for the default URL, which is reachable only from this machine. */
export interface PublicUrlFacts {
  readonly publicUrl: string;
  readonly answer: PublicUrlAnswer;
}

/**
 * The target of the public URL. To find it, the gateway sends a request to the URL with a question that only a gateway process of
 * this machine can answer.
 */
export type PublicUrlAnswer =
  | {
      readonly is: 'here';
      /** The address that the request came from: the last proxy, or this machine. Empty if it is not known. */
      readonly peer: string;
      readonly hasForwardedFor: boolean;
    }
  | { readonly is: 'elsewhere'; readonly status: number; readonly location: string | undefined }
  /** A proxy answers, and does not reach the gateway. */
  | { readonly is: 'proxy_alone'; readonly status: number }
  | { readonly is: 'silent'; readonly reason: string };

export interface CertificateFacts {
  readonly what: string;
  readonly certificate: Asked<{
    readonly issuer: string;
    readonly from: Date;
    readonly until: Date;
    /** The reason why a client refuses the certificate. Null if the client accepts the certificate, or does not check it. */
    readonly refusal: string | null;
  }>;
  readonly nowMs: number;
}
