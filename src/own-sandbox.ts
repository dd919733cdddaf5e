import type { CommandDeps } from './actions/command.ts';
import type { RowKeyDeps } from './actions/row-keys.ts';
import { finishAdvance, type TestClock } from './actions/test-clock.ts';
import type { Chains } from './chains/chains.ts';
import type { Log } from './runtime/world.ts';
import { createChainControl } from './sandbox/chain-control.ts';
import { openSandbox } from './sandbox/demo.ts';
import { createRehearsal } from './sandbox/rehearsal.ts';
import { SANDBOX_NETWORK } from './sandbox/sandbox-network.ts';
import type { SandboxTime } from './sandbox/sandbox-time.ts';
import { createSecondPayer } from './sandbox/second-payer.ts';
import { stageOutcomes } from './sandbox/stage-outcomes.ts';
import type { NetworkInUse } from './settings/chains.ts';
import type { Config } from './settings/config.ts';
import type { Job } from './workers/loop.ts';

export type OwnSandbox = NonNullable<Awaited<ReturnType<typeof openOwnSandbox>>>;

/** An interrupted move of the sandbox's clock is finished within this time. */
const FINISH_ADVANCE_MS = 2_000;
/** Scripted outcomes come within this time after their payments are ready for them. */
const STAGE_MS = 250;

/** The demo partner with its shop, the test clock and the scripted outcomes. Only a gateway that has no real money has them. */
export async function openOwnSandbox(
  base: CommandDeps & RowKeyDeps & { readonly config: Config },
  { networks, time }: { readonly networks: readonly NetworkInUse[]; readonly time: SandboxTime },
) {
  const { config } = base;
  const rpcUrl = networks[0]?.endpoints[0];
  if (rpcUrl === undefined) return undefined;
  const file = await openSandbox(base, { home: config.home, baseUrl: config.publicUrl, rpcUrl });
  const { apiKey, merchantId } = file;
  const control = createChainControl(SANDBOX_NETWORK, rpcUrl);
  const testClock: TestClock = { moveChain: control.moveAhead, refresh: time.refresh };
  return {
    file,
    shop: { apiKey, merchantId, rpcUrl, chainId: SANDBOX_NETWORK },
    testClock,
    rehearse: createRehearsal,
    stage: { control, paySecond: createSecondPayer(rpcUrl) },
  };
}

export function sandboxJobs(
  deps: CommandDeps & { readonly log: Log; readonly chains: Chains },
  { testClock, stage }: Pick<OwnSandbox, 'testClock' | 'stage'>,
): readonly Job[] {
  return [
    { name: 'finish-advance', everyMs: FINISH_ADVANCE_MS, run: () => finishAdvance({ ...deps, testClock }) },
    { name: 'stage-outcomes', everyMs: STAGE_MS, run: () => stageOutcomes({ ...deps, ...stage }) },
  ];
}
