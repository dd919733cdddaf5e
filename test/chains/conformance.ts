import { describe } from 'node:test';
import { describeCoinPayments } from './conformance/coin-payments.ts';
import { describeDeposits } from './conformance/deposits.ts';
import { describeEvents } from './conformance/events.ts';
import { describeJudging } from './conformance/judging.ts';
import { describeOwnAccounts } from './conformance/own-accounts.ts';
import { describeReach } from './conformance/reach.ts';
import { describeReading } from './conformance/reading.ts';
import { describeSending } from './conformance/sending.ts';
import { describeSigning } from './conformance/signing.ts';
import { createScene, type Harness, type OnScene } from './harness.ts';

/** The behaviour of every implementation of the port. */
export function describeChain(name: string, createHarness: () => Promise<Harness>): void {
  const onScene: OnScene = (test) => async () => {
    const harness = await createHarness();
    try {
      await test(createScene(harness));
    } finally {
      await harness.close();
    }
  };

  describe(name, () => {
    describeSigning(onScene);
    describeJudging(onScene);
    describeReading(onScene);
    describeSending(onScene);
    describeEvents(onScene);
    describeCoinPayments(onScene);
    describeDeposits(onScene);
    describeOwnAccounts(onScene);
    describeReach(onScene);
  });
}
