import { useInfiniteQuery } from '@tanstack/react-query';
import { clamp } from '../../shared/text.ts';
import { call, queryText } from '../api.ts';
import type { AuditPage } from '../shapes.ts';
import { Notice, PageHead, Time, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { Tabs } from '../ui/tabs.tsx';
import { useWords } from '../words.ts';

export function AuditLogPage() {
  const words = useWords();
  useTitle(words.auditLog);
  const log = useInfiniteQuery({
    queryKey: ['audit-log'],
    queryFn: ({ pageParam, signal }) =>
      call<AuditPage>('GET', `/v1/audit-log${queryText({ limit: 50, cursor: pageParam })}`, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const { error } = log;
  return (
    <>
      <PageHead title={words.team} />
      <Tabs of="team" />
      {error !== null && <Notice kind="bad">{problemText(words, error)}</Notice>}
      {log.data === undefined && error === null && <p className="empty">{words.loading}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
      <section className="scroll" aria-label={words.auditLog} tabIndex={0}>
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">{words.when}</th>
              <th scope="col">{words.who}</th>
              <th scope="col">{words.what}</th>
              <th scope="col">{words.subject}</th>
              <th scope="col">{words.address}</th>
            </tr>
          </thead>
          <tbody>
            {log.data?.pages
              .flatMap((page) => page.entries)
              .map(({ id, at, actor, actorName, action, subject, address }) => (
                <tr key={id}>
                  <td className="soft">
                    <Time at={at} isExact />
                  </td>
                  <td>
                    <bdi>{clamp(actorName ?? actor, 40)}</bdi>
                  </td>
                  <td>
                    <code dir="ltr">{action}</code>
                  </td>
                  <td className="soft">
                    <code dir="ltr">{clamp(subject, 40)}</code>
                  </td>
                  <td className="soft">
                    <code dir="ltr">{address}</code>
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </section>
      {log.hasNextPage && (
        <button type="button" className="quiet" onClick={() => void log.fetchNextPage()}>
          {words.more}
        </button>
      )}
    </>
  );
}
