import type { OutgoingPurpose } from '../../../store/money/outgoing.ts';
import { PAYOUT } from '../payout/payout-consequences.ts';
import { REFUND } from '../refund/refund-consequences.ts';
import { RETURN } from '../return/return-consequences.ts';
import type { Consequences } from './consequences.ts';

export const CONSEQUENCES: Readonly<Record<OutgoingPurpose, Consequences>> = {
  payout: PAYOUT,
  refund: REFUND,
  return: RETURN,
};
