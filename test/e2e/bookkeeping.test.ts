import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { startBookkeeping } from '../../src/workers/bookkeeping.ts';
import { until } from '../until.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';

describe('bookkeeping', () => {
  let scene: BooksScene;
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await scene.close();
  });

  it('seals entries soon after they are written, in one order, whichever node does it', async () => {
    scene = await openBooksScene({ isRealTime: true });
    const start = () => startBookkeeping({ ...scene, metrics: createMetrics() });
    stops.push(start(), start());
    const node = await scene.newNode();
    for (let round = 1; round <= 3; round += 1) {
      await Promise.all([scene.accept(), scene.accept()]);
      await node.turn();
      await until('everything is sealed', async () => {
        const report = await scene.verify();
        return report !== undefined && report.sealed >= round * 4 && report.unsealed.count === 0;
      });
      // The node that leads goes; the other one takes over.
      if (round === 2) await stops.shift()?.();
    }
    assert.deepEqual(await scene.problems(), []);
    assert.deepEqual(await scene.alerts(), []);
  });
});
