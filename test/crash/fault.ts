import type { Load } from './load.ts';
import type { CrashScene, CrashSceneInput } from './scene.ts';

/** A fault that the harness causes while orders are under way. */
export interface Fault {
  readonly name: string;
  /** The scene that it needs. */
  readonly scene?: CrashSceneInput;
  /** The reason why it cannot be caused here. */
  readonly skip?: string | false;
  /** Returns when the fault has happened. */
  cause(run: Run): Promise<void>;
  /** Does what an operator or a process manager does afterwards. */
  repair(run: Run): Promise<void>;
}

export interface Run {
  readonly scene: CrashScene;
  readonly load: Load;
}
