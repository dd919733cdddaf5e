import { useState } from 'react';
import { clamp, fill } from '../../shared/text.ts';
import { queryText } from '../api.ts';
import type { RequestLogPage } from '../api-types.ts';
import { ListState, More } from '../ui/list-state.tsx';
import { usePages } from '../ui/pages-list.ts';
import { PageHead, Time, useTitle } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useWords } from '../words.ts';

const REFRESH_MS = 10_000;

export function RequestsPage() {
  const words = useWords();
  const [isErrorsOnly, setErrorsOnly] = useState(false);
  useTitle(words.requests);
  const list = usePages<RequestLogPage>(
    ['requests', isErrorsOnly],
    (cursor) => `/v1/request-log${queryText({ limit: 50, cursor, onlyErrors: isErrorsOnly ? 'true' : undefined })}`,
    { refreshMs: REFRESH_MS },
  );
  const requests = list.data?.pages.flatMap((page) => page.requests);
  return (
    <>
      <PageHead title={words.developers}>
        <label className="check">
          <input type="checkbox" checked={isErrorsOnly} onChange={() => setErrorsOnly(!isErrorsOnly)} />
          <span>{words.onlyErrors}</span>
        </label>
      </PageHead>
      <Tabs of="developers" />
      <ListState error={list.error} count={requests?.length} empty={words.noRequests} />
      <ul className="plain-list" aria-label={words.requests}>
        {requests?.map((request) => (
          <li key={request.id}>
            <span className="person-names">
              <span>
                <code className="strong" dir="ltr">
                  {request.method} {clamp(request.path, 90)}
                </code>
              </span>
              {request.message !== null && <bdi className="small">{clamp(request.message, 200)}</bdi>}
              <span className="soft small">
                <Time at={request.at} isExact /> · <bdi>{clamp(request.keyLabel ?? request.keyId, 40)}</bdi> ·{' '}
                {request.ms} ms · <code dir="ltr">{request.requestId}</code>
                {request.skipped > 0 && ` · ${fill(words.skipped, { count: String(request.skipped) })}`}
              </span>
            </span>
            {request.code !== null && (
              <code className="soft" dir="ltr">
                {request.code}
              </code>
            )}
            <span className={`badge ${request.status < 400 ? 'badge-succeeded' : 'badge-failed'}`}>
              {request.status}
            </span>
          </li>
        ))}
      </ul>
      <More list={list} />
    </>
  );
}
