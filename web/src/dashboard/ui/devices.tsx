import { useQuery, useQueryClient } from '@tanstack/react-query';
import { clamp } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Person, Session } from '../api-types.ts';
import { useWords } from '../words.ts';
import { Dialog, Notice, Time } from './parts.tsx';
import { problemText } from './problem-text.ts';
import { useChange } from './use-change.ts';

/** A person's sessions, one for each device or browser. An owner can end them. */
export function DevicesDialog({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const queryKey = ['devices', person.id];
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call<{ sessions: Session[] }>('GET', `/v1/sessions?personId=${person.id}`, { signal }),
  });
  const end = (id: string) =>
    run(async () => {
      await call('DELETE', `/v1/sessions/${id}`);
      await client.invalidateQueries({ queryKey });
    });
  return (
    <Dialog title={<bdi>{clamp(person.name, 40)}</bdi>} onClose={onClose}>
      <p>{words.devicesText}</p>
      {error !== null && <Notice kind="bad">{problemText(words, error)}</Notice>}
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      {data?.sessions.length === 0 && <p className="soft">{words.noDevices}</p>}
      <ul className="plain-list" aria-label={words.devices}>
        {data?.sessions.map(({ id, userAgent, address, lastUsedAt }) => (
          <li key={id}>
            <span className="person-names">
              <bdi>{clamp(userAgent, 60)}</bdi>
              <span className="soft small">
                <bdi dir="ltr">{address}</bdi> · {words.lastUsed} <Time at={lastUsedAt} />
              </span>
            </span>
            <button type="button" className="quiet small" disabled={isRunning} onClick={() => void end(id)}>
              {words.endSession}
            </button>
          </li>
        ))}
      </ul>
      <div className="dialog-actions">
        <button type="button" className="main" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}
