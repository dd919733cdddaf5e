import { newId } from '../../domain/ids.ts';
import { DEFAULT_PIN } from '../../domain/version.ts';
import { insertPartner, type Partner } from '../../store/parties/partners.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../command.ts';

export function createPartner(deps: CommandDeps, input: { actor: string; name: string }): Promise<Partner> {
  return command(deps, async (tx, now) => {
    const partner: Partner = {
      id: newId('prtn_', now.getTime(), deps.world.random.bytes(10)),
      name: input.name,
      pinnedVersion: DEFAULT_PIN,
      frameOrigins: [],
      accepted: { test: null, live: null },
      createdAt: now,
      disabledAt: null,
    };
    await insertPartner(tx, partner);
    const detail = { name: partner.name, pinnedVersion: partner.pinnedVersion };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'partner.created', subject: partner.id, detail });
    return partner;
  });
}
