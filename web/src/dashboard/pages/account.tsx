import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { clamp } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Passkey, Session } from '../api-types.ts';
import { addPasskey, deviceName, offersPasskeys } from '../passkeys.ts';
import { sessionQuery, useSession } from '../queries.ts';
import { Notice, PageHead, Time, useTitle } from '../ui/parts.tsx';
import { passkeyProblem } from '../ui/problem-text.ts';
import { useChange } from '../ui/use-change.ts';
import { useWithPasskey } from '../ui/verify.tsx';
import { useWords } from '../words.ts';

export function AccountPage() {
  const words = useWords();
  const { person } = useSession();
  useTitle(words.account);
  return (
    <>
      <PageHead title={words.account} />
      <p className="soft">
        <bdi>{clamp(person.name, 60)}</bdi> · <bdi>{clamp(person.email, 80)}</bdi>
      </p>
      <Passkeys />
      <Sessions />
    </>
  );
}

function Passkeys() {
  const words = useWords();
  const client = useQueryClient();
  const withPasskey = useWithPasskey();
  const change = useChange();
  const [problem, setProblem] = useState<string>();
  const { data } = useQuery({
    queryKey: ['passkeys'],
    queryFn: ({ signal }) => call<{ passkeys: Passkey[] }>('GET', '/v1/passkeys', { signal }),
  });
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ['passkeys'] });
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  const add = async () => {
    try {
      setProblem(undefined);
      await withPasskey(() => addPasskey(deviceName()));
      await refresh();
    } catch (error) {
      setProblem(passkeyProblem(words, error));
    }
  };
  const remove = (id: string) =>
    change.run(async () => {
      await call('DELETE', `/v1/passkeys/${id}`);
      await refresh();
    });
  const text = problem ?? change.problem;
  return (
    <section aria-labelledby="passkeys" className="card section">
      <header className="section-head">
        <h2 id="passkeys">{words.passkeys}</h2>
        {offersPasskeys() && (
          <button type="button" className="quiet" onClick={() => void add()}>
            {words.addPasskey}
          </button>
        )}
      </header>
      {text !== undefined && <Notice kind="bad">{text}</Notice>}
      {data?.passkeys.length === 0 && <Notice kind="warm">{words.noPasskeyYet}</Notice>}
      <ul className="plain-list">
        {data?.passkeys.map(({ id, label, lastUsedAt }) => (
          <li key={id}>
            <bdi>{clamp(label, 60)}</bdi>
            <span className="soft small">
              {words.lastUsed} {lastUsedAt === null ? words.never : <Time at={lastUsedAt} />}
            </span>
            {(data.passkeys.length ?? 0) > 1 && (
              <button type="button" className="quiet small" onClick={() => void remove(id)}>
                {words.remove}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sessions() {
  const words = useWords();
  const client = useQueryClient();
  const { problem, run } = useChange();
  const { data } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => call<{ sessions: Session[] }>('GET', '/v1/sessions', { signal }),
  });
  const end = (id: string) =>
    run(async () => {
      await call('DELETE', `/v1/sessions/${id}`);
      await client.invalidateQueries({ queryKey: ['sessions'] });
    });
  return (
    <section aria-labelledby="sessions" className="card section">
      <h2 id="sessions">{words.sessions}</h2>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <ul className="plain-list">
        {data?.sessions.map(({ id, address, userAgent, lastUsedAt, isCurrent }) => (
          <li key={id}>
            <span>
              <span dir="ltr">{address}</span>
              <bdi className="soft small agent">{clamp(userAgent, 80)}</bdi>
            </span>
            <span className="soft small">
              {words.lastUsed} <Time at={lastUsedAt} />
            </span>
            {isCurrent ? (
              <span className="badge badge-succeeded">{words.thisSession}</span>
            ) : (
              <button type="button" className="quiet small" onClick={() => void end(id)}>
                {words.endSession}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
