import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Logger } from 'pino';
import type { Alarms } from '../actions/alarms.ts';
import type { Examination } from '../actions/oversight/doctor/share-examination.ts';
import type { CreatedPayment, PaymentOrder } from '../actions/paying/create-payment.ts';
import type { DepositSettings } from '../actions/paying/deposit-assets.ts';
import type { PayerLimits } from '../actions/paying/payer-places.ts';
import type { PaymentMover } from '../actions/paying/payment-mover.ts';
import type { Rehearsal } from '../actions/paying/rehearsal.ts';
import type { Site } from '../actions/people/webauthn.ts';
import type { RequestRecorder } from '../actions/record-requests.ts';
import type { RecordStanding } from '../actions/record-standing.ts';
import type { TestClock } from '../actions/test-clock.ts';
import type { Chains } from '../chains/chains.ts';
import type { RegistryDeps } from '../chains/registry.ts';
import type { KeyRing } from '../domain/key-ring.ts';
import type { ReceiptKey } from '../domain/receipt.ts';
import type { Press } from '../paper/press.ts';
import type { Rates } from '../rates/rates.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { PaymentWork } from '../runtime/payment-work.ts';
import type { Secrets } from '../runtime/secrets.ts';
import type { SparseWarning } from '../runtime/sparse-log.ts';
import type { World } from '../runtime/world.ts';
import type { Screening } from '../screening/screening.ts';
import type { Config } from '../settings/config.ts';
import type { KeyHolder } from '../store/parties/api-keys.ts';
import type { DestinationReader } from '../store/parties/destinations.ts';
import type { NetworkStop } from '../store/parties/freezes.ts';
import type { PayableMerchant } from '../store/parties/merchants.ts';
import type { WalletApp } from '../store/parties/wallet-apps.ts';
import type { PaymentReader } from '../store/payments/payment-reader.ts';
import type { Payment, PaymentGlance } from '../store/payments/payments.ts';
import type { SessionHolder } from '../store/people/sessions.ts';
import type { Database } from '../store/plumbing/database.ts';
import type { FreshCache } from '../store/plumbing/fresh-cache.ts';
import type { PageBundle } from './checkout/page-bundle.ts';
import type { Drain } from './drain.ts';
import type { CountLimit } from './entry/count-limit.ts';
import type { ListReads } from './entry/list-reads.ts';
import type { SurveyLimit } from './entry/survey-limit.ts';
import type { Turns } from './entry/turns.ts';
import type { SubjectReader } from './event-bodies.ts';
import type { Guides } from './site/guide-files.ts';
import type { HoldPlaces } from './status/hold-places.ts';
import type { LongPolls } from './status/long-poll.ts';

/** A Fastify instance whose routes get their types from their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * The dependencies of the HTTP service. `main.ts` and tests build this object. It is flat: a route names the few dependencies
 * that it uses, and a test replaces a single one by its name.
 */
export interface HttpDeps extends RegistryDeps {
  readonly config: Config;
  readonly world: World;
  readonly log: Logger;
  readonly db: Database;
  /** Runs lists and searches, on connections of their own and within the limits of the key. */
  readonly lists: ListReads;
  readonly turns: Turns;
  readonly readSubjects: SubjectReader;
  readonly metrics: Metrics;
  readonly paymentWork: PaymentWork;
  /** Caches: `keys` of API keys by their hash, `apps` of wallet apps by their id. */
  readonly keys: FreshCache<KeyHolder>;
  readonly apps: FreshCache<WalletApp>;
  readonly keyUses: Uses;
  /** Notes API requests that are authenticated by a key. They are written to the database later. */
  readonly requestLog: Pick<RequestRecorder, 'note'>;
  /** A cache of people's sessions, by the hash of their cookie. */
  readonly sessions: FreshCache<SessionHolder>;
  readonly sessionUses: Uses;
  /** Recorders: `openings` of payments that their payers opened, `optionAsks` of payments whose options were requested. */
  readonly openings: Uses;
  readonly optionAsks: Uses;
  readonly signInFailures: CountLimit;
  /** Limits how many accounts are looked up on chains for lists of options. */
  readonly surveyLimit: SurveyLimit;
  /** Limits how many payments a client address creates by one payment link. */
  readonly linkOrders: CountLimit;
  /** Limits how many receipts apps may have mailed, for each client address. */
  readonly mailedReceipts: CountLimit;
  /** Limits how many receipts are printed as PDF, for each client address. */
  readonly prints: CountLimit;
  readonly press: Press;
  /** Keys that authenticate challenges for passkeys. */
  readonly challengeKeys: KeyRing;
  /** The site for which passkeys are made: the relying party of WebAuthn. */
  readonly site: Site;
  /** A cache of merchants by id, with their fee terms. */
  readonly merchants: FreshCache<PayableMerchant>;
  /** A cache by network id, which tells whether the network is frozen. */
  readonly networkStops: FreshCache<NetworkStop>;
  readonly createPayment: (order: PaymentOrder) => Promise<CreatedPayment>;
  readonly movePayment: PaymentMover;
  readonly readPayment: PaymentReader<Payment>;
  /** Reads the fields of a payment that its status answer needs. */
  readonly glanceAtPayment: PaymentReader<PaymentGlance>;
  readonly chains: Chains;
  readonly rates: Rates;
  readonly screening: Screening;
  /** Logs warnings about conditions that every request may meet: the first at once, repetitions only from time to time. */
  readonly warn: SparseWarning;
  readonly deposits: DepositSettings;
  /** Alerts about assets that are left out of options. */
  readonly leftOut: Alarms;
  readonly payerLimits: PayerLimits;
  readonly readDestinations: DestinationReader;
  /** The built pages. Undefined if they were not built. */
  readonly page?: PageBundle | undefined;
  /** The built documentation. Default: the files in this installation's `docs/site/dist`. */
  readonly guides?: Guides | undefined;
  /** The sandbox's own shop and chain. Undefined outside the sandbox. */
  readonly sandbox?: DemoShop | undefined;
  /** Simulated outcomes, which payments in a sandbox can ask for. */
  readonly rehearsal: Rehearsal;
  /** The clock that test keys can move. Undefined outside the sandbox. */
  readonly testClock?: TestClock | undefined;
  /** Examines the whole gateway, as `till doctor` does, on connections of its own. */
  readonly examine: () => Promise<Examination>;
  /** Milliseconds by which the machine's clock is ahead of the database. */
  readonly clockOffMs: () => number;
  /**
   * Tells whether the network records of this node are in force. They are not if they differ from the records of the running node
   * that started last.
   */
  readonly standing: RecordStanding;
  readonly longPolls: LongPolls;
  readonly drain: Drain;
  readonly holdPlaces: HoldPlaces;
  /** Keys that encrypt list cursors, the same on every node. */
  readonly cursorKeys: KeyRing;
  /** Keys of the secrets in links where merchants sign for refunds. */
  readonly signingKeys: KeyRing;
  /** Keys that authenticate rows that decide about money. */
  readonly rowKeys: KeyRing;
  /** Keys that encrypt options, the same on every node. */
  readonly optionKeys: KeyRing;
  readonly subjectKeys: KeyRing;
  readonly secrets: Secrets;
  /** Signs receipts, the same on every node. */
  readonly receiptKey: ReceiptKey;
}

/** Records that a key, a session or a payment was used. The uses are written to the database later, many at once. */
export interface Uses {
  note(id: string): void;
}

/** The shop of the sandbox. It has a key like any partner, and uses the public API like any shop. */
export interface DemoShop {
  readonly apiKey: string;
  readonly merchantId: string;
  /** The sandbox chain as CAIP-2, and the URL of its JSON-RPC. */
  readonly chainId: string;
  readonly rpcUrl: string;
}
