import type { Logger } from 'pino';
import { createPaymentCreator } from './actions/create-payment.ts';
import { createPaymentMover } from './actions/move-payment.ts';
import { openCheckout } from './actions/open-checkout.ts';
import { createKeyUseRecorder } from './actions/record-key-uses.ts';
import { shareSecret } from './actions/share-secret.ts';
import type { Chains } from './chains/chains.ts';
import type { Config } from './config.ts';
import type { World } from './deps.ts';
import { receiptKeyOf } from './domain/receipt.ts';
import type { HttpDeps } from './http/deps.ts';
import { createHoldPlaces } from './http/hold-places.ts';
import { createLongPolls } from './http/long-poll.ts';
import { createMetrics } from './metrics.ts';
import { NO_RATES, type Rates } from './rates/rates.ts';
import { NO_SCREENING, type Screening } from './screening/screening.ts';
import { findKeyHolders, type KeyHolder } from './store/api-keys.ts';
import type { Database } from './store/database.ts';
import { createFreshCache } from './store/fresh-cache.ts';
import { findPayableMerchants, type PayableMerchant } from './store/merchants.ts';
import { openPaymentFeed } from './store/payment-feed.ts';
import { createPaymentReader } from './store/payment-reader.ts';
import { findPayments, glanceAtPayments } from './store/payments.ts';
import { createDestinationReader } from './store/settlements.ts';
import { findWalletApps, type WalletApp } from './store/wallet-apps.ts';

export interface PartsInput {
  readonly config: Config;
  readonly world: World;
  readonly log: Logger;
  readonly db: Database;
  /** What payments are made with; a gateway without it takes none. */
  readonly chains?: Chains;
  readonly rates?: Rates;
  readonly screening?: Screening;
  /** The checkout page, and what the sandbox adds to it. */
  readonly page?: HttpDeps['page'];
  readonly sandbox?: HttpDeps['sandbox'];
}

const NO_CHAINS: Chains = { find: () => undefined, list: () => [] };

/** Everything that is made once and lives as long as the node, put together on an open database. */
export async function createParts(input: PartsInput) {
  const { chains = NO_CHAINS, rates = NO_RATES, screening = NO_SCREENING } = input;
  const base = { ...input, chains, rates, screening };
  const { config, world, db } = base;
  const metrics = createMetrics();
  const keys = createFreshCache<KeyHolder>(world, {
    read: (hashes) => findKeyHolders(db.sql, hashes),
    keyOf: (key) => key.hash,
  });
  const apps = createFreshCache<WalletApp>(world, {
    read: (ids) => findWalletApps(db.sql, ids),
    keyOf: (app) => app.id,
  });
  const merchants = createFreshCache<PayableMerchant>(world, {
    read: (ids) => findPayableMerchants(db.sql, ids),
    keyOf: (merchant) => merchant.id,
  });
  await openCheckout(base);
  const feed = await openPaymentFeed(base);
  return {
    ...base,
    metrics,
    keys,
    apps,
    merchants,
    keyUses: createKeyUseRecorder(world.clock),
    feed,
    createPayment: createPaymentCreator(base),
    movePayment: createPaymentMover({ ...base, feed }),
    readPayment: createPaymentReader(base, findPayments),
    readDestinations: createDestinationReader(base),
    glanceAtPayment: createPaymentReader(base, glanceAtPayments),
    longPolls: createLongPolls(world, feed),
    holdPlaces: createHoldPlaces({
      perKey: config.heldPerKey,
      perAddress: config.heldPerAddress,
      onRefusal: () => metrics.refusals.inc({ reason: 'rate_limited' }),
    }),
    cursorSecret: await shareSecret(base, 'cursor'),
    optionSecret: await shareSecret(base, 'option'),
    receiptKey: receiptKeyOf(await shareSecret(base, 'receipt')),
    stop() {
      for (const cache of [keys, apps, merchants]) cache.stop();
    },
  };
}
