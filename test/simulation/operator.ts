import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { revokeKey } from '../../src/actions/parties/issue-key.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { fillFloat, presentWhatIsOthers } from './float-habits.ts';
import { countAccepted } from './invariants.ts';
import type { SimMerchant } from './parties.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import type { Stage } from './stage.ts';
import { withNode } from './with-node.ts';

/** The steps of the whole run in which a signature is judged and stored, at most. */
const STEPS_OF_A_CONFIRM = 60;

/**
 * The operator freezes and lifts, registers a destination for held money, fills floats for refunds, and revokes a key. Merchants
 * present to it what came for others.
 */
export async function operate(stage: Stage): Promise<void> {
  const random = stage.random.fork('operator');
  const by = stage.newClient('operator');
  const registering = stage.scheduler
    .sleep(by, random.between(10_000, 70_000))
    .then(() =>
      withNode(stage, by, random, 'registers a destination for held money', (deps) => stage.registerHeld(deps)),
    );
  const owners = random.chance(0.7) ? [OPERATOR_FLOAT, stage.merchants[0]?.id ?? ''] : [];
  const filling = owners.map((owner, index) => fillFloat(stage, by, random.fork(`float ${index}`), owner));
  const claiming = presentWhatIsOthers(stage, by, random.fork('claims'));
  for (let rounds = random.below(4); rounds > 0; rounds -= 1) {
    const merchant = await chooseMerchant(stage, by, random);
    const target = { scope: 'merchant', subject: merchant.id, reason: 'simulation', actor: 'operator' } as const;
    await withNode(stage, by, random, `freezes merchant ${merchant.name}`, async (deps) => {
      await freeze(deps, target);
      stage.frozen.set(merchant.id, await countAccepted(stage.sql, merchant.id));
      stage.fault('freeze');
    });
    await stage.scheduler.sleep(by, random.between(1_000, 20_000));
    stage.frozen.delete(merchant.id);
    await withNode(stage, by, random, `unfreezes merchant ${merchant.name}`, async (deps) => {
      const frozen = await listFreezes(deps.db.sql);
      if (frozen.some(({ subject }) => subject === merchant.id)) await unfreeze(deps, target);
    });
  }
  if (random.chance(0.3)) {
    await withNode(stage, by, random, 'revokes a key', (deps) =>
      revokeKey(deps, { actor: 'operator', keyId: stage.keys[1]?.id ?? '' }),
    );
    stage.fault('key revoked');
  }
  await registering;
  await Promise.all([...filling, claiming]);
}

/** Often a merchant for which a signature is being judged at this moment. */
async function chooseMerchant(stage: Stage, by: Participant, random: Seeded): Promise<SimMerchant> {
  const pause = stage.scheduler.sleep(by, random.between(3_000, 40_000)).then(() => undefined);
  const confirmed = random.chance(0.7) ? stage.nextConfirm() : pause;
  const merchantId = await Promise.race([confirmed, pause]);
  if (merchantId !== undefined) await stage.scheduler.afterSteps(random.below(STEPS_OF_A_CONFIRM));
  return stage.merchants.find(({ id }) => id === merchantId) ?? random.pick(stage.merchants);
}

/** Lifts every freeze, when the faults are over. */
export async function liftAll(stage: Stage): Promise<void> {
  const by = stage.newClient('operator');
  stage.frozen.clear();
  await withNode(stage, by, stage.random.fork('lift'), 'lifts all freezes', async (deps) => {
    for (const { scope, subject } of await listFreezes(deps.db.sql)) {
      await unfreeze(deps, { scope, subject, reason: 'simulation', actor: 'operator' });
    }
  });
}
