/** The parts of the operator API's answers that the dashboard shows. */

export interface PartnerRow {
  readonly id: string;
  readonly name: string;
  readonly isDisabled: boolean;
}

export interface GatewayStatus {
  readonly nodes: readonly {
    readonly id: string;
    readonly host: string;
    readonly roles: readonly string[];
    readonly startedAt: string;
    readonly seenAt: string;
    readonly isUp: boolean;
  }[];
  readonly leases: readonly { readonly name: string; readonly isHeld: boolean }[];
  readonly alerts: readonly {
    readonly name: string;
    readonly subject: string;
    readonly message: string;
    readonly since: string;
    readonly runbook: string;
  }[];
  readonly freezes: readonly {
    readonly scope: string;
    readonly subject: string;
    readonly reason: string;
    readonly since: string;
  }[];
}

export interface NetworkState {
  readonly network: string;
  readonly name: string;
  /** Symbol of the coin that pays for gas. */
  readonly coin: string;
  readonly head: number | null;
  readonly readTo: number | null;
  readonly finalTo: number | null;
  readonly lag: number | null;
  readonly endpoints: readonly { readonly name: string; readonly isUp: boolean; readonly trouble: string | null }[];
  readonly disagreements: readonly string[];
  readonly problems: readonly string[];
  readonly relayers: readonly {
    readonly address: string;
    readonly balance: string | null;
    readonly spentPerDay: string;
    readonly daysLeft: number | null;
    readonly itemsPerDay: number;
    readonly inFlight: number;
    readonly isLed: boolean;
  }[];
  readonly gasPerItem: string | null;
  readonly books: { readonly auditedBlock: number | null; readonly problems: readonly string[] };
}
