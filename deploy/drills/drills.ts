import type { Drill } from './drill.ts';
import { failover } from './failover.ts';
import { prune } from './prune.ts';
import { restore } from './restore.ts';
import { rotateSecrets } from './rotate-secrets.ts';
import { upgrade } from './upgrade.ts';

export const DRILLS: readonly Drill[] = [restore, failover, upgrade, rotateSecrets, prune];
