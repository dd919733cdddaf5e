// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Makes several calls in one transaction, and reverts with the reason of the first that fails.
contract Caller {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    function run(Call[] calldata calls) external payable {
        for (uint256 index = 0; index < calls.length; ++index) {
            (bool isDone, bytes memory answer) = calls[index].to.call{value: calls[index].value}(calls[index].data);
            if (isDone) continue;
            assembly {
                revert(add(answer, 0x20), mload(answer))
            }
        }
    }
}
