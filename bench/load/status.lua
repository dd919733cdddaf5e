-- GET /v1/payments/{id}/status of the payments in a file, one after the other.
-- Arguments: API key, file with a line "<payment id> <merchant id>" per payment.

local requests = {}
local count = 0

function init(args)
  for line in io.lines(args[2]) do
    local id, merchant = line:match('^(%S+) (%S+)$')
    requests[#requests + 1] = 'GET /v1/payments/' .. id .. '/status HTTP/1.1\r\nHost: 127.0.0.1\r\nApi-Key: ' .. args[1]
      .. '\r\nMerchant-Id: ' .. merchant .. '\r\n\r\n'
  end
end

function request()
  count = count % #requests + 1
  return requests[count]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"failed":%d,"p50Us":%d,"p99Us":%d}\n',
    summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
