import type { Logger } from 'pino';
import { createPaymentCreator } from './actions/create-payment.ts';
import { createPaymentMover } from './actions/move-payment.ts';
import { createKeyUseRecorder } from './actions/record-key-uses.ts';
import { shareCursorSecret } from './actions/share-secret.ts';
import type { Config } from './config.ts';
import type { World } from './deps.ts';
import { createHoldPlaces } from './http/hold-places.ts';
import { createLongPolls } from './http/long-poll.ts';
import { createMetrics } from './metrics.ts';
import { findKeyHolders, type KeyHolder } from './store/api-keys.ts';
import type { Database } from './store/database.ts';
import { createFreshCache } from './store/fresh-cache.ts';
import { findPayableMerchants, type PayableMerchant } from './store/merchants.ts';
import { openPaymentFeed } from './store/payment-feed.ts';
import { createPaymentReader } from './store/payment-reader.ts';
import { findPayments, glanceAtPayments } from './store/payments.ts';
import { findWalletApps, type WalletApp } from './store/wallet-apps.ts';

/** Everything that is made once and lives as long as the node, put together on an open database. */
export async function createParts(base: { config: Config; world: World; log: Logger; db: Database }) {
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
    glanceAtPayment: createPaymentReader(base, glanceAtPayments),
    longPolls: createLongPolls(world, feed),
    holdPlaces: createHoldPlaces({
      perKey: config.heldPerKey,
      perAddress: config.heldPerAddress,
      onRefusal: () => metrics.refusals.inc({ reason: 'rate_limited' }),
    }),
    cursorSecret: await shareCursorSecret(base),
    stop() {
      for (const cache of [keys, apps, merchants]) cache.stop();
    },
  };
}
