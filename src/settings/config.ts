import type { Registry } from '../chains/registry.ts';
import { MOST_TOLERANCE_BASIS_POINTS } from '../domain/deposit.ts';
import { amounts } from './amount-kinds.ts';
import { CALLER_LIMIT_SETTINGS } from './caller-limit-settings.ts';
import { DATABASE_SETTINGS } from './database-settings.ts';
import { INTERMEDIATE_SETTINGS } from './intermediate-settings.ts';
import { addresses, flag, integer, masterSecrets, names, oneOf, origin, path, text } from './kinds.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { account, coins, depths, gas, gwei, httpUrl, relayerKeys, rpcUrls, tokens } from './network-kinds.ts';
import { PAIRING_SETTINGS } from './pairing.ts';
import { RISK_NAMES } from './production-risks.ts';
import { rateSources } from './rate-kinds.ts';
import { ROLES } from './roles.ts';
import { type Setting, setting } from './setting.ts';
import { TRACE_SETTINGS } from './trace-settings.ts';

/** Every setting. `.env.example` and `docs/configuration.md` are generated from this table. */
export const SETTINGS = {
  port: setting('PORT', integer(1, 65_535), 8080, 'Port of the API and the pages.'),
  host: setting('HOST', text(), '127.0.0.1', 'Address the API and the pages listen on. `0.0.0.0` for every interface.'),
  publicUrl: setting(
    'PUBLIC_URL',
    origin(),
    undefined,
    'The origin payers and wallets see, used in gateway URLs. Avoid a host name with `pay.` in it: wallets take its links for those of another service.',
    '`http://localhost:$PORT`',
  ),
  qrLink: setting(
    'QR_LINK',
    oneOf('plain', 'gateway'),
    'plain',
    'The link in QR codes and app links of the checkout. `plain` is `/c/…`, which opens the page; `gateway` is the gateway URL, for wallets of your own that know it: others ask another service for it, as it holds `pay_`.',
  ),
  ...PAIRING_SETTINGS,
  home: setting('TILL_HOME', path(), './.till', 'Folder for everything the sandbox keeps: database, keys, logs.'),
  ...DATABASE_SETTINGS,
  operatorName: setting(
    'TILL_OPERATOR',
    text(),
    undefined,
    'The name of the person who runs operator commands. It is kept with freezes, vetoes and in the audit log, as given.',
    '`operator`',
  ),
  databasePoolSize: setting('DATABASE_POOL_SIZE', integer(2, 500), 10, 'Connections this node opens to PostgreSQL.'),
  listPoolSize: setting(
    'DATABASE_LIST_POOL_SIZE',
    integer(2, 100),
    4,
    'Further connections this node opens to PostgreSQL, for lists and searches alone. One key uses at most two at once.',
  ),
  listTimeoutMs: setting(
    'LIST_TIMEOUT_MS',
    integer(50, 15_000),
    2_000,
    'The longest time a statement of a list may run, in milliseconds. A list that needs more is refused with 429.',
  ),
  listCostMsPerSecond: setting(
    'LIST_COST_MS_PER_SECOND',
    integer(10, 1_000_000),
    500,
    'Milliseconds of database time that lists of one API key may use in each second on one node.',
  ),
  networksDir: setting(
    'NETWORKS_DIR',
    path(),
    undefined,
    'A folder with files of networks of your own, the same on every node. They add networks, or replace built-in ones by id. The database remembers what was used, and a start with other decimals, coins or pegs is refused. Their format is `networks/schema.json`, also at `/networks.schema.json`; see `docs/own-networks.md`.',
    'none: the built-in networks alone',
  ),
  secret: setting(
    'TILL_SECRET',
    masterSecrets(),
    undefined,
    'The master secret, the same on every node. It encrypts options and wraps the secrets in the database. Keep it outside the database and its backups.',
    'with live networks it must be set; else one is made in `TILL_HOME`',
  ),
  secretFile: setting(
    'TILL_SECRET_FILE',
    path(),
    undefined,
    'A file with the master secret, instead of `TILL_SECRET`.',
    'none',
  ),
  metricsPort: setting(
    'METRICS_PORT',
    integer(0, 65_535),
    undefined,
    'Private port for Prometheus (`/metrics`).',
    '9464, or any free port when that one is taken',
  ),
  metricsHost: setting('METRICS_HOST', text(), '127.0.0.1', 'Address the metrics port listens on. Keep it private.'),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    'info',
    'The least important level that is logged.',
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    addresses(),
    [],
    'Comma-separated addresses or networks (CIDR) of reverse proxies whose `X-Forwarded-For` is believed.',
    'none: the peer address is the client',
  ),
  ...CALLER_LIMIT_SETTINGS,
  keyLifetimeDays: setting(
    'API_KEY_LIFETIME_DAYS',
    integer(1, 3_650),
    undefined,
    'Days after which a new API key ends, unless its operator gives another end. 365 is a good value for live keys.',
    'keys do not end',
  ),
  heldPerKey: setting(
    'LONG_POLLS_PER_KEY',
    integer(0, 1_000_000),
    20_000,
    'Requests that one node holds at once for one API key (`maxPollMs`).',
  ),
  heldPerAddress: setting(
    'LONG_POLLS_PER_ADDRESS',
    integer(0, 1_000_000),
    200,
    'Requests that one node holds at once for one address without an API key.',
  ),
  maxEventLoopDelayMs: setting(
    'MAX_EVENT_LOOP_DELAY_MS',
    integer(0, 60_000),
    500,
    'Requests are refused with 503 while the event loop is this late: lists and pages at 0.4 of it, routes that move money last. 0 never refuses.',
  ),
  roles: setting(
    'ROLES',
    names('roles', ROLES),
    ROLES,
    'The roles of this node, comma-separated: `api`, `relay`, `watch`, `jobs`. `--role` on the command line has precedence. All nodes together must have all roles.',
    'all of them',
  ),
  drainMs: setting(
    'DRAIN_MS',
    integer(0, 300_000),
    undefined,
    'Milliseconds for which a node that was asked to stop still takes requests. `/ready` answers 503 meanwhile, so that load balancers send no more. Longer than the interval of their checks.',
    '5000; 0 in the sandbox',
  ),
  leaseMs: setting(
    'LEASE_MS',
    integer(1_000, 60_000),
    10_000,
    'Milliseconds after which another node takes over the work of a node that has died or hangs. A node that stops hands its work over at once.',
  ),
  rpcUrls: setting(
    'RPC_URLS',
    rpcUrls(),
    undefined,
    'RPC endpoints of the networks to take payments on. Two must agree before a payment counts, so name two or, better, three for each network.',
    'a sandbox chain of its own, with a demo partner',
  ),
  relayerKeys: setting(
    'RELAYER_KEYS',
    relayerKeys(),
    undefined,
    'Private keys of the accounts that send transactions and pay their gas, or addresses whose keys `EXTERNAL_SIGNER_URL` holds. They can take no money of payers or merchants.',
    'none: nothing is offered on networks without one; the sandbox chain has its own',
  ),
  externalSignerUrl: setting(
    'EXTERNAL_SIGNER_URL',
    httpUrl(),
    undefined,
    'A program that signs for the addresses in `RELAYER_KEYS` and `INTERMEDIATE_KEY`: it gets `{address, digest}` and the content of the digest, and answers `{r, s, v}` (`docs/external-signer.md`).',
    'none',
  ),
  relayerMinBalance: setting(
    'RELAYER_MIN_BALANCE',
    coins(),
    undefined,
    "An alert is raised when a relayer has less of a network's own coin.",
    '`0.01`',
  ),
  gasPriceCap: setting(
    'GAS_PRICE_CAP',
    gwei(),
    undefined,
    'The highest fee for a unit of gas, in gwei. Nothing new is sent while the network asks for more.',
    '`1000`, on Polygon `10000`; none on the sandbox chain',
  ),
  gasPerItem: setting(
    'GAS_PER_ITEM',
    gas(),
    undefined,
    'The most gas for all transactions of one payment. A payment that has used it is not sent again.',
    '`1500000`',
  ),
  gasPerPayerHour: setting(
    'GAS_PER_PAYER_HOUR',
    gas(),
    undefined,
    'The most gas for the payments of one paying account within an hour. Its further payments wait.',
    '`50000000`',
  ),
  gasCostPerHour: setting(
    'GAS_COST_PER_HOUR',
    coins(),
    undefined,
    "The most that gas may cost within an hour, in the network's own coin. Payments wait when it is spent. Payments of smart-contract wallets, whose gas nobody knows beforehand, and of accounts whose last payments failed use at most a quarter of it together.",
    '`5`, on BNB Smart Chain `20`, on Celo, Monad and Polygon `2000`; none on the sandbox chain',
  ),
  openItemsPerPayer: setting(
    'OPEN_PAYMENTS_PER_PAYER',
    integer(1, 1_000_000),
    20,
    'Payments of one paying account on one network that may be under way at once. A further one is refused with `rate_limited`.',
  ),
  depositMinimum: setting(
    'DEPOSIT_MINIMUM',
    tokens(),
    undefined,
    'The smallest payment that can be sent to a deposit address of its own, in whole tokens. Less than this at such an address is not swept. A network without a value has no deposit addresses.',
    'none; `0` on the sandbox chain',
  ),
  depositTolerance: setting(
    'DEPOSIT_TOLERANCE',
    integer(0, MOST_TOLERANCE_BASIS_POINTS),
    0,
    'How much less than asked pays a payment by its deposit address when its time is over, in hundredths of a percent.',
  ),
  feeAccount: setting(
    'FEE_ACCOUNT',
    account(),
    undefined,
    'Where fees are paid to. Needed for every network in `RPC_URLS`.',
    'an account of the sandbox',
  ),
  ...INTERMEDIATE_SETTINGS,
  refundWithoutPasskey: setting(
    'REFUND_WITHOUT_PASSKEY',
    amounts(),
    [],
    'The amount of each currency up to which people may refund a payment, all its refunds together, without showing the passkey again; none by default. Keys are not asked.',
  ),
  signedRefundFees: setting(
    'SIGNED_REFUND_FEES',
    oneOf('keep', 'return'),
    'keep',
    'The fee of a refund that the merchant’s own account has signed for and paid whole. `keep`: the operator keeps it. `return`: when the refund is final, it moves from the operator’s float to the merchant’s float.',
  ),
  outgoingPerHour: setting(
    'OUTGOING_PER_HOUR',
    tokens(),
    undefined,
    'How many tokens of one asset may leave the accounts of a network within an hour, as payouts, refunds and returns. Transfers above it wait, with an alert. A coin such as ETH counts as a number of tokens: its highest plausible price.',
    'no limit',
  ),
  finalityDepths: setting(
    'FINALITY_DEPTHS',
    depths(),
    undefined,
    'The depth in blocks at which a payment succeeds, if it shall be more than the default.',
    'the depths on the page about finality',
  ),
  loneCeiling: setting(
    'SINGLE_ENDPOINT_CEILING',
    tokens(),
    undefined,
    'The largest payment, in tokens, that succeeds on the word of a single endpoint, at three times the depth. Larger ones wait for a second endpoint.',
    '`100`',
  ),
  coolingOffHours: setting(
    'DESTINATION_COOLING_OFF_HOURS',
    integer(0, 720),
    undefined,
    'Hours until a change of a settlement destination applies, and until a refund to another account than the payer’s is sent, so that a stolen key redirects nothing at once. Until then the old destination stays in force, and operators can veto the change or the refund.',
    '24 for live merchants; 0 for test merchants, and in the sandbox',
  ),
  webhookKeptDays: setting(
    'WEBHOOK_DELIVERIES_KEPT_DAYS',
    integer(4, 3_650),
    30,
    'Days after which deliveries of webhooks are removed. Events are kept.',
  ),
  ...MAIL_SETTINGS,
  ...TRACE_SETTINGS,
  rates: setting(
    'RATES',
    oneOf('public'),
    undefined,
    '`public` takes exchange rates from public sources that need no key. Without rates, only tokens of the currency itself are offered.',
    'the sources of `RATE_SOURCES`; the sandbox has a fixed table',
  ),
  rateSources: setting(
    'RATE_SOURCES',
    rateSources(),
    undefined,
    'Exchange rates from sources of your choice: at least two for each pair. With `RATES`, a pair listed here is read from these sources alone.',
    'none',
  ),
  screeningList: setting(
    'SCREENING_LIST',
    path(),
    undefined,
    'File of accounts that may not pay, one a line; read again when it changes.',
    'nobody is screened',
  ),
  acceptedRisks: setting(
    'ACCEPT_RISKS',
    names('risks', RISK_NAMES),
    [],
    'Comma-separated names of risks that do not stop the start of a gateway with live networks. The page about security lists the names.',
    'none',
  ),
  sandbox: setting(
    'SANDBOX',
    flag(),
    undefined,
    'Play money on a sandbox chain, with a demo partner. If you set `DATABASE_URL` and no `RPC_URLS`, the gateway starts only with `1` here: a sandbox would put its demo data into that database. With `0` no sandbox is started.',
    '`1` when neither `DATABASE_URL` nor `RPC_URLS` is set',
  ),
  sandboxRpcPort: setting(
    'SANDBOX_RPC_PORT',
    integer(1, 65_535),
    undefined,
    "Port of the sandbox chain's RPC on this machine.",
    'a free port, the same at each start',
  ),
  sandboxBlockMs: setting(
    'SANDBOX_BLOCK_MS',
    integer(0, 60_000),
    250,
    'Milliseconds between blocks of the sandbox chain. 0 makes one at once.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type Config = Readonly<{ [Name in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[Name]> }> & {
  /** `PUBLIC_URL`, or localhost with the port. */
  readonly publicUrl: string;
  /** The networks and tokens that this gateway knows. */
  readonly registry: Registry;
};

type Value<S> = S extends Setting<infer T> ? (S extends { default: undefined } ? T | undefined : T) : never;
