import type { Chain } from '../../../chains/chain.ts';
import type { Chains } from '../../../chains/chains.ts';
import type { Network } from '../../../chains/network.ts';
import type { Asked, ProgramFacts, PublicUrlAnswer, SettingsFacts } from '../../../domain/doctor/facts.ts';
import type { ServerCertificate } from '../../../runtime/server-certificate.ts';
import type { World } from '../../../runtime/world.ts';
import type { Database } from '../../../store/plumbing/database.ts';

export interface ExamineDeps {
  /** The world of this process. Its clock is the clock of this machine, which may be wrong. */
  readonly world: World;
  /** Rejects with the reason if there is no database to ask. */
  readonly openDatabase: () => Promise<Database>;
  /** The replica that answers lists. Null if none is configured. */
  readonly replica: { readonly open: () => Promise<Database>; readonly maxLagMs: number } | null;
  /** Strikes secrets out of a message of another program. */
  readonly strike: (text: string) => string;
  readonly program: ProgramFacts;
  readonly settings: SettingsFacts;
  /** The configured networks, each endpoint as a chain of its own. */
  readonly networks: Asked<readonly ConfiguredNetwork[]>;
  /** The chains of the configured networks, with the accounts that act on them. */
  readonly chains: Chains;
  readonly minBalance: (network: string) => bigint | null;
  readonly roles: readonly string[];
  /** The ids of the master secrets in the settings of this machine. */
  readonly secretIds: Asked<readonly string[]>;
  readonly folders: readonly Folder[];
  /** True if the server of the database runs on this machine. */
  readonly isDatabaseHere: boolean;
  /** Asks the public URL which gateway answers there. Null if the public URL leads only to this machine itself. */
  readonly publicUrl: PublicUrlAsk | null;
  readonly certificates: readonly { readonly what: string; readonly read: () => Promise<ServerCertificate> }[];
}

export interface ConfiguredNetwork {
  readonly network: Network;
  /** True for the chain of the sandbox. */
  readonly isSandbox: boolean;
  /** One function for each endpoint, which opens a chain with this endpoint alone. */
  readonly endpoints: readonly (() => Chain)[];
}

export interface PublicUrlAsk {
  readonly publicUrl: string;
  readonly ask: (isOurs: (text: string) => boolean) => Promise<PublicUrlAnswer>;
}

export interface Folder {
  readonly what: string;
  readonly path: string;
}
