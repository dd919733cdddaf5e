import { sealItem, subjectKeysOf } from '../src/actions/subject-keys.ts';
import type { PayerSide } from '../src/chains/payer-side.ts';
import type { Item } from '../src/domain/item.ts';
import { createSecrets } from '../src/runtime/secrets.ts';

/** The master secret of gateways in tests. */
export const TEST_SECRET = new Uint8Array(32).fill(7);

const TEST_SUBJECT_KEYS = subjectKeysOf(createSecrets([TEST_SECRET]));

/** The item with the seal that a gateway of the tests gives it. */
export function sealedByTest(payerSide: Pick<PayerSide, 'sealedTerms'>, item: Item): Item {
  return sealItem({ subjectKeys: TEST_SUBJECT_KEYS }, payerSide, item);
}
