// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Play money that behaves like Tether's USDT on Ethereum: its transfers answer nothing, an allowance can only be
 * changed through zero, and it knows no signatures, so payments in it go through Permit2.
 */
contract TestTether {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Issue(uint256 amount);
    event AddedBlackList(address user);
    event RemovedBlackList(address user);
    event Pause();
    event Unpause();

    uint256 public constant decimals = 6;
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint256 public totalSupply;
    bool public paused;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;
    address public immutable owner;

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    constructor(address owner_) {
        owner = owner_;
    }

    function transfer(address to, uint256 value) external {
        _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    /// Tether issues to its owner; here it may be anyone.
    function mint(address to, uint256 amount) external onlyOwner {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Issue(amount);
        emit Transfer(address(0), to, amount);
    }

    function addBlackList(address user) external onlyOwner {
        isBlackListed[user] = true;
        emit AddedBlackList(user);
    }

    function removeBlackList(address user) external onlyOwner {
        isBlackListed[user] = false;
        emit RemovedBlackList(user);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    /// As with the real one, only senders are looked up on the blacklist, and a refusal has no message.
    function _transfer(address from, address to, uint256 value) private {
        require(!paused);
        require(!isBlackListed[from]);
        require(value <= balanceOf[from]);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
