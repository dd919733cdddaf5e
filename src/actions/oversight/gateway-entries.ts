import type { Registry } from '../../chains/registry.ts';
import { runbookOf } from '../../domain/alert.ts';
import type { RaisedAlert } from '../../store/plumbing/alerts.ts';
import type { AuditEntry } from '../../store/plumbing/audit-log.ts';
import type { Takeover } from '../../store/plumbing/leases.ts';
import { networkName, type TimelineEntry } from './entry.ts';
import type { History } from './history.ts';

/** The timeline entries about freezes and suspensions that stopped the payment, or its payout or refund. */
export function stopEntries({ stops }: History, registry: Registry): TimelineEntry[] {
  return stops.flatMap((stop) => stopEntry(registry, stop));
}

const STOPPED = 'The operator of the gateway has stopped payments, payouts or refunds that concern this payment.';
const LIFTED = 'The operator of the gateway has lifted a stop that concerned this payment.';

function stopEntry(registry: Registry, { at, actor, action, subject, detail }: AuditEntry): TimelineEntry[] {
  if (action === 'merchant.changed') return suspensionEntry({ at, actor, subject, detail });
  const isSet = action === 'freeze.set';
  const reason = String(detail.reason);
  const text = `${frozenName(registry, subject)} ${isSet ? 'frozen' : 'unfrozen'} by ${actor}. The reason: ${reason}.`;
  return [
    {
      at,
      what: action,
      text,
      partnerText: isSet ? STOPPED : LIFTED,
      evidence: {},
      internals: { actor, subject, reason },
    },
  ];
}

/** The subject of a freeze, as the beginning of a sentence in the passive voice. */
function frozenName(registry: Registry, subject: string): string {
  const [scope, id] = subject.split(' ');
  if (scope === 'restored') return `Payouts and refunds on ${networkName(registry, id ?? '')} were`;
  if (scope === 'asset') return `All transfers of ${id} out of our accounts were`;
  return id === undefined ? `All ${subject} were` : `The ${subject} was`;
}

function suspensionEntry({ at, actor, subject, detail }: Omit<AuditEntry, 'action'>): TimelineEntry[] {
  const { before, after } = detail as { before?: { status?: string }; after?: { status?: string } };
  if (after?.status === undefined || after.status === before?.status) return [];
  const text = `The merchant ${subject} was set from ${before?.status} to ${after.status} by ${actor}.`;
  const partnerText = `The merchant was set from ${before?.status} to ${after.status}.`;
  return [{ at, what: 'merchant.status', text, partnerText, evidence: {}, internals: { actor } }];
}

/**
 * The timeline entries about alerts of the payment, and about alerts of its networks while it was under way. `stopEntries` covers
 * freezes.
 */
export function alertEntries({ alerts }: History): TimelineEntry[] {
  return alerts.filter(({ name }) => name !== 'frozen').flatMap(alertEntry);
}

function alertEntry({ name, subject, message, since, until }: RaisedAlert): TimelineEntry[] {
  const evidence = {};
  const internals = { alert: name, subject, runbook: runbookOf(name) };
  const raised = {
    at: since,
    what: 'alert.raised',
    text: `Alert ${name} (${subject}): ${message}`,
    evidence,
    internals,
  };
  if (until === null) return [raised];
  return [
    raised,
    { at: until, what: 'alert.cleared', text: `Alert ${name} (${subject}) is over.`, evidence, internals },
  ];
}

/**
 * The timeline entries about work that passed to another process while the payment was under way, because a node was restarted or
 * crashed.
 */
export function takeoverEntries({ takeovers }: History, registry: Registry): TimelineEntry[] {
  return takeovers.map((takeover) => takeoverEntry(registry, takeover));
}

function takeoverEntry(registry: Registry, { name, fencing, at, isReleased }: Takeover): TimelineEntry {
  const [kind, network = ''] = name.split(' ');
  const worker = kind === 'watch' ? 'watcher' : 'relayer';
  const why = isReleased
    ? 'the process before it was stopped and had released its lease'
    : 'the process before it had not released its lease: it was killed, stood still or lost the database';
  return {
    at,
    what: 'worker.taken_over',
    text: `Another process took over the ${worker} of ${networkName(registry, network)}; ${why}.`,
    evidence: {},
    internals: { lease: name, fencing },
  };
}
